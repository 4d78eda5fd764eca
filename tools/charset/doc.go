// Package charset reads and writes text in legacy encodings: those that came
// before UTF-8 and are still found in source code, logs and web pages. It says how a text is
// written ([Detect]), turns it to UTF-8 and back ([Encoding.Decode],
// [Encoding.Encode], [Encoding.NewReader]), and maps places in the decoded text
// to places in the bytes ([Encoding.Locate]), so that an edit replaces the bytes
// of what it found and no other.
//
// Nothing is ever repaired or guessed: a byte sequence that stands for no
// character is an error with its offset, never U+FFFD, and a text that is not
// surely in one encoding is in none.
//
// All encodings are stateless, and every ASCII byte that does not end a longer
// sequence is that ASCII character. In GBK, GB18030, Big5, Shift_JIS and EUC-KR
// a sequence may end in an ASCII byte, but only from 0x30 on: looking for the
// byte '\n', ' ' or '/' in undecoded text is safe; looking for a digit, a letter,
// '\\' or '|' is not.
package charset
