package charset

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Encode turns s into the encoding, so that [Encoding.Decode] gives s again. The
// error is an [*Error] with the first character that the encoding cannot hold and
// its offset in s. A character that the encoding could only replace by another
// (the yen sign by a backslash in Shift_JIS) is one of those, and so is a byte of
// s that is not valid UTF-8.
func (e Encoding) Encode(s string) ([]byte, error) {
	if e.c == nil {
		return nil, noEncoding
	}
	enc := e.c.encoder()
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			out = append(out, s[i])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if p := enc.pair(s[i:]); p != none {
			r, size = p, len(pairs[p-firstPair])
		}
		word := enc.word(r)
		if word == 0 || r == utf8.RuneError && size == 1 {
			return nil, e.c.cannot(r, size, i)
		}
		out = appendWord(out, word)
		i += size
	}
	return out, nil
}

func (c *codec) cannot(r rune, size, offset int) *Error {
	reason := fmt.Sprintf("it has no %q (U+%04X)", r, r)
	if r == utf8.RuneError && size == 1 {
		reason = "the text is not valid UTF-8"
	}
	return &Error{Encoding: c.name, Offset: offset, Rune: r, Reason: reason}
}

// An encoder has the byte sequences of all characters, as big-endian numbers: no
// sequence begins with 0. Characters that follow each other are near each other.
type encoder struct {
	pages [(firstPair + 256) >> 8][]uint32
	above bool // GB18030: characters from U+10000 on are computed
	pairs bool
}

func (e *encoder) word(r rune) uint32 {
	if e.above && r >= 0x10000 && r <= utf8.MaxRune {
		b := spell(int(r) - 0x10000 + fourAbove)
		return binary.BigEndian.Uint32(b[:])
	}
	if page := e.pages[r>>8]; page != nil {
		return page[r&0xFF]
	}
	return 0
}

// pair is the one of pairs that s begins with, or none.
func (e *encoder) pair(s string) rune {
	if !e.pairs {
		return none
	}
	for i, pair := range pairs {
		if strings.HasPrefix(s, pair) {
			return firstPair + rune(i)
		}
	}
	return none
}

func appendWord(out []byte, word uint32) []byte {
	switch {
	case word < 1<<8:
		return append(out, byte(word))
	case word < 1<<16:
		return binary.BigEndian.AppendUint16(out, uint16(word))
	case word < 1<<24:
		return append(out, byte(word>>16), byte(word>>8), byte(word))
	}
	return binary.BigEndian.AppendUint32(out, word)
}

func (c *codec) encoder() *encoder {
	c.encoding.Do(func() { c.enc = c.makeEncoder() })
	return c.enc
}

// makeEncoder turns the decoder round.
func (c *codec) makeEncoder() *encoder {
	e := &encoder{above: c.name == "GB18030", pairs: c.name == "Big5"}
	again := make(map[rune][]uint32) // sequences that stand for the same characters
	for word, r := range c.decoder().all {
		if e.word(r) == 0 {
			e.put(r, word)
		} else {
			again[r] = append(again[r], word)
		}
	}
	for r, words := range again {
		e.put(r, c.choose(r, append(words, e.word(r))))
	}
	return e
}

// choose takes the one of words that x/text writes for r, as web browsers do; in
// Shift_JIS not those of NEC's selection of IBM's characters, as Windows does.
func (c *codec) choose(r rune, words []uint32) uint32 {
	if c.name == "Shift_JIS" {
		words = slices.DeleteFunc(words, func(word uint32) bool { return word>>8 == 0xED || word>>8 == 0xEE })
	}
	b, err := c.source.NewEncoder().Bytes([]byte(string(r)))
	var word uint32
	for _, x := range b {
		word = word<<8 | uint32(x)
	}
	if err == nil && slices.Contains(words, word) {
		return word
	}
	return slices.Min(words)
}

func (e *encoder) put(r rune, word uint32) {
	if e.pages[r>>8] == nil {
		e.pages[r>>8] = make([]uint32, 256)
	}
	e.pages[r>>8][r&0xFF] = word
}

// all gives the sequences and their characters, short ones first; of those with
// four bytes only the ones below U+10000.
func (d *decoder) all(yield func(uint32, rune) bool) {
	for i, r := range d.one {
		if r != none && !yield(uint32(i+0x80), r) {
			return
		}
	}
	for i, r := range d.two {
		if r != none && !yield(uint32(i+0x8000), r) {
			return
		}
	}
	for i, r := range d.three {
		if r != none && !yield(uint32(0x8F8080+i>>7<<8+i&0x7F), r) {
			return
		}
	}
	for i, r := range d.four {
		b := spell(i)
		if r != none && !yield(binary.BigEndian.Uint32(b[:]), r) {
			return
		}
	}
}
