package charset

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// Decode turns b to UTF-8. The error is an [*Error] with the offset of the first
// byte sequence that is not valid in the encoding; there is no text then.
func (e Encoding) Decode(b []byte) (string, error) {
	if e.c == nil {
		return "", noEncoding
	}
	text, n := e.c.decode(make([]byte, 0, len(b)+len(b)/2), b)
	if n < len(b) {
		return "", e.c.refuse(b[n:], n)
	}
	return string(text), nil
}

var noEncoding = errors.New("charset: no encoding given")

// decode appends the text of b up to its first invalid sequence to text, and
// tells how far it came.
func (c *codec) decode(text, b []byte) ([]byte, int) {
	d := c.decoder()
	i := 0
	for {
		n := ascii(b[i:])
		text = append(text, b[i:i+n]...)
		for i += n; i < len(b) && b[i] >= utf8.RuneSelf; {
			r, size := d.at(b[i:])
			if size == 0 {
				return text, i
			}
			text = appendChar(text, r)
			i += size
		}
		if i == len(b) {
			return text, i
		}
	}
}

func appendChar(text []byte, r rune) []byte {
	if r >= firstPair {
		return append(text, pairs[r-firstPair]...)
	}
	return utf8.AppendRune(text, r)
}

// ascii is how many bytes b begins with that are ASCII.
func ascii(b []byte) int {
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		if binary.LittleEndian.Uint64(b[i:])&0x8080808080808080 != 0 {
			break
		}
	}
	for i < len(b) && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}
