package charset

import "fmt"

// An Error tells where bytes cannot be decoded, or text cannot be encoded.
type Error struct {
	Encoding string // its name
	Offset   int    // of the first byte that is not valid, or of Rune in the text
	Rune     rune   // the character that Encoding cannot hold; 0 from Decode
	Reason   string // a clause without a period: "it has no character for the byte 0x81"
}

func (e *Error) Error() string {
	if e.Rune != 0 {
		return fmt.Sprintf("cannot be written as %s: %s (offset %d)", e.Encoding, e.Reason, e.Offset)
	}
	return fmt.Sprintf("not valid %s: %s at byte %d", e.Encoding, e.Reason, e.Offset)
}

// fault says why no character begins at b[0]. b must not be empty.
func (c *codec) fault(b []byte) string {
	n := c.length(b)
	switch {
	case n == 1:
		return fmt.Sprintf("it has no character for the byte 0x%02X", b[0])
	case n > len(b):
		return fmt.Sprintf("the text ends inside a character that begins with 0x%02X", b[0])
	}
	return fmt.Sprintf("it has no character for the bytes 0x% X", b[:n])
}

func (c *codec) refuse(b []byte, offset int) *Error {
	return &Error{Encoding: c.name, Offset: offset, Reason: c.fault(b)}
}
