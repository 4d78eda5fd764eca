package charset

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// A codec is an encoding and its tables, which are made from those of x/text when
// first needed: its decoders put U+FFFD for what they cannot read, and GB18030 can
// write that character itself, so their output does not tell.
type codec struct {
	name    string
	aliases string
	source  encoding.Encoding
	length  func([]byte) int

	decoding sync.Once
	dec      *decoder
	encoding sync.Once
	enc      *encoder
}

const none rune = -1

// firstPair is where the runes end and the numbers of pairs begin.
const firstPair rune = utf8.MaxRune + 1

// pairs are the sequences of Big5 that stand for two characters each.
var pairs = [...]string{"\u00CA\u0304", "\u00CA\u030C", "\u00EA\u0304", "\u00EA\u030C"}

// A decoder has the characters of all byte sequences; see at. Of tables that the
// encoding does not need there is none.
type decoder struct {
	one   [128]rune // of the bytes from 0x80 on
	two   []rune    // of two bytes: the first less 0x80, the second
	three []rune    // of 0x8F and two bytes less 0x80; only in EUC-JP
	four  []rune    // by the number that fourth gives; only in GB18030
}

// The sequences of four bytes of GB18030: so many stand for characters below
// U+10000, and from fourAbove on those above follow in their order.
const (
	fourInBMP = 39420
	fourAbove = 189000
)

// at gives the character that begins at b[0], which is not ASCII, and its length
// in bytes; 0 if none does. From firstPair on it is one of pairs.
func (d *decoder) at(b []byte) (rune, int) {
	if r := d.one[b[0]-0x80]; r != none {
		return r, 1
	}
	if d.two == nil || len(b) < 2 {
		return none, 0
	}
	if r := d.two[int(b[0]-0x80)<<8|int(b[1])]; r != none {
		return r, 2
	}
	return d.long(b)
}

func (d *decoder) long(b []byte) (rune, int) {
	if d.three != nil && b[0] == 0x8F && len(b) >= 3 && b[1] >= 0x80 && b[2] >= 0x80 {
		if r := d.three[int(b[1]-0x80)<<7|int(b[2]-0x80)]; r != none {
			return r, 3
		}
	}
	if d.four == nil {
		return none, 0
	}
	n, ok := fourth(b)
	switch {
	case ok && n < fourInBMP && d.four[n] != none:
		return d.four[n], 4
	case ok && n >= fourAbove && n < fourAbove+0x100000:
		return rune(n - fourAbove + 0x10000), 4
	}
	return none, 0
}

// fourth numbers the sequences of four bytes of GB18030.
func fourth(b []byte) (int, bool) {
	if len(b) < 4 || b[0] == 0x80 || b[0] == 0xFF || !digit(b[1]) || b[2] <= 0x80 || b[2] == 0xFF || !digit(b[3]) {
		return 0, false
	}
	return ((int(b[0]-0x81)*10+int(b[1]-'0'))*126+int(b[2]-0x81))*10 + int(b[3]-'0'), true
}

// spell is the inverse of fourth.
func spell(n int) [4]byte {
	return [4]byte{byte(n/12600) + 0x81, byte(n/1260%10) + '0', byte(n/10%126) + 0x81, byte(n%10) + '0'}
}

func (c *codec) decoder() *decoder {
	c.decoding.Do(func() { c.dec = c.makeDecoder() })
	return c.dec
}

func (c *codec) makeDecoder() *decoder {
	d, source := new(decoder), c.source.NewDecoder()
	for i := range d.one {
		d.one[i] = c.read(source, byte(i+0x80))
	}
	if _, narrow := c.source.(*charmap.Charmap); narrow {
		return d
	}
	d.two = fill(128<<8, func(i int) rune {
		if d.one[i>>8] != none || i&0xFF < 0x40 {
			return none
		}
		return c.read(source, byte(i>>8+0x80), byte(i))
	})
	switch c.name {
	case "EUC-JP":
		d.three = fill(128<<7, func(i int) rune {
			return c.read(source, 0x8F, byte(i>>7+0x80), byte(i&0x7F+0x80))
		})
	case "GB18030":
		d.four = fill(fourInBMP, func(i int) rune {
			b := spell(i)
			return c.read(source, b[:]...)
		})
	}
	return d
}

func fill(n int, at func(int) rune) []rune {
	table := make([]rune, n)
	for i := range table {
		table[i] = at(i)
	}
	return table
}

// read gives the character of b, none if b is not the whole of one.
func (c *codec) read(source *encoding.Decoder, b ...byte) rune {
	var out [16]byte
	source.Reset()
	n, m, err := source.Transform(out[:], b, true)
	if err != nil || m != len(b) || c.length(b) != len(b) {
		return none
	}
	r, size := utf8.DecodeRune(out[:n])
	switch {
	case size < n:
		return pairOf(string(out[:n]))
	case r == utf8.RuneError && string(b) != "\x84\x31\xA4\x37":
		return none
	case c.leavesOpen(b[0]) && r == rune(b[0]):
		return none // x/text reads it as a control character, as web browsers do
	}
	return r
}

// leavesOpen tells the bytes that are control characters in ISO 8859 and are
// either something else or undefined in the code pages of Windows.
func (c *codec) leavesOpen(b byte) bool {
	return strings.HasPrefix(c.name, "windows-") && b < 0xA0
}

func pairOf(s string) rune {
	for i, pair := range pairs {
		if s == pair {
			return firstPair + rune(i)
		}
	}
	return none
}
