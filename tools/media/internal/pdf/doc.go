// Package pdf reads the text of PDF files that may be broken or hostile.
//
// It reads what a text needs and no more: cross-reference tables and streams,
// object streams, the common stream filters, the page tree, content streams,
// form XObjects, fonts and their maps to Unicode. It draws nothing, decrypts
// nothing and knows no tools.
//
// # Limits
//
// All work happens in the caller's goroutine; nothing runs on after a return.
// Every loop counts its steps, so that a call ends soon after its context does
// (within about 0.1 s) and after maxSteps tokens in any case. No number in the
// file is believed when memory is laid out: a table grows with the rows that
// are there. Recursion is counted. A broken part is treated as absent, as other
// readers do, and a panic, should one be left, becomes ErrBroken.
//
// Memory: the file itself, which the caller holds, and at most about 150 MB
// besides, reached only by files made for it; usual ones take a few MB.
package pdf
