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
	text, n := e.c.decode(make([]byte, 0, e.c.sizeHint(b)), b)
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
	for i := 0; i < len(b); {
		x := b[i]
		if x < utf8.RuneSelf {
			n := ASCII(b[i:])
			text = append(text, b[i:i+n]...)
			i += n
			continue
		}
		r, size := d.one[x-0x80], 1
		if r == none {
			if r, size = d.at(b[i:]); size == 0 {
				return text, i
			}
		}
		text = appendChar(text, r)
		i += size
	}
	return text, len(b)
}

// sizeHint is about how long the text of b is.
func (c *codec) sizeHint(b []byte) int {
	if c.decoder().two != nil {
		return len(b) + len(b)/2
	}
	high := 0
	for _, x := range b {
		high += int(x >> 7)
	}
	return len(b) + high // right for letters; signs have three bytes
}

// appendChar is utf8.AppendRune and its equal for pairs, but fast.
func appendChar(text []byte, r rune) []byte {
	switch {
	case r < 0x80:
		return append(text, byte(r))
	case r < 0x800:
		return append(text, 0xC0|byte(r>>6), 0x80|byte(r)&0x3F)
	case r < 0x10000: // and no surrogate: tables have none
		return append(text, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	case r < firstPair:
		return utf8.AppendRune(text, r)
	}
	return append(text, pairs[r-firstPair]...)
}

// ascii is how many bytes b begins with that are ASCII.
func ASCII(b []byte) int {
	const high = 0x8080808080808080
	i := 0
	for ; len(b)-i >= 32; i += 32 {
		w := b[i : i+32]
		if (binary.LittleEndian.Uint64(w)|binary.LittleEndian.Uint64(w[8:])|
			binary.LittleEndian.Uint64(w[16:])|binary.LittleEndian.Uint64(w[24:]))&high != 0 {
			break
		}
	}
	for ; len(b)-i >= 8; i += 8 {
		if binary.LittleEndian.Uint64(b[i:])&high != 0 {
			break
		}
	}
	for i < len(b) && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}
