package sandbox

import (
	"io"
	"unicode/utf8"
)

const (
	// heldLine is how much of a line is held back because a \r or \b may still
	// take it away. A longer line is given on as it comes.
	heldLine = 8 << 10
	// maxEscape bounds an escape sequence whose end does not come.
	maxEscape = 16 << 10
)

// cleaner is a filter that turns what a program writes to a terminal into
// plain text: valid UTF-8, with no control characters but \n and \t.
//
// Escape sequences are removed, a line overwritten after a bare \r is given
// only in its last version, \b takes back a character, \r\n becomes \n, other
// control characters are dropped, and invalid UTF-8 becomes U+FFFD, once for
// each maximal subpart. How the input is cut into writes makes no difference.
// What is held back is given on by Flush.
type cleaner struct {
	w   io.Writer
	out []byte // goes to w at the end of Write

	line     []byte // the current line, held back
	long     bool   // the current line is longer than heldLine: nothing is held
	returned bool   // a \r came: the next character overwrites the line

	esc    escState
	escLen int

	part []byte // the beginning of a rune
	need int    // bytes still missing from it
	lo   byte   // the bounds of the next one
	hi   byte
}

type escState uint8

const (
	ground      escState = iota
	escape               // ESC
	escapeInter          // ESC and an intermediate: one more byte
	csi                  // ESC [ up to a final byte
	oscString            // ESC ] up to BEL, ESC \ or a line's end
	otherString          // ESC P, X, ^ or _: the same, but it may have several lines
	stringEsc            // ESC within a string: \ ends it
)

const (
	bel, can, sub, esc, del = 0x07, 0x18, 0x1a, 0x1b, 0x7f
)

func newCleaner(w io.Writer) *cleaner {
	return &cleaner{w: w, part: make([]byte, 0, utf8.UTFMax)}
}

// plainByte marks the bytes that stand for themselves.
var plainByte = func() (t [256]bool) {
	for b := 0x20; b < del; b++ {
		t[b] = true
	}
	t['\t'], t['\n'] = true, true
	return t
}()

func (c *cleaner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if c.esc == ground && c.need == 0 {
			if run := plainRun(p); run > 0 {
				c.text(p[:run])
				p = p[run:]
				continue
			}
			if run := wideRun(p); run > 0 {
				c.add(p[:run])
				p = p[run:]
				continue
			}
		}
		c.byte(p[0])
		p = p[1:]
	}
	return n, c.give()
}

// Flush gives on what is held back, as there will be no more.
func (c *cleaner) Flush() error {
	c.badRune()
	c.esc, c.returned = ground, false
	c.commit()
	return c.give()
}

// held is the part of the current line that was not given on yet.
func (c *cleaner) held() []byte { return c.line }

func (c *cleaner) give() error {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.w.Write(c.out)
	c.out = c.out[:0]
	return err
}

func plainRun(p []byte) int {
	for i, b := range p {
		if !plainByte[b] {
			return i
		}
	}
	return len(p)
}

// wideRun is the length of the whole runes at the beginning of p that are
// neither ASCII nor controls.
func wideRun(p []byte) int {
	n := 0
	for n < len(p) && p[n] >= 0xc2 {
		r, size := utf8.DecodeRune(p[n:])
		if size == 1 || r < 0xa0 {
			break
		}
		n += size
	}
	return n
}

// text takes bytes that are plain.
func (c *cleaner) text(p []byte) {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != '\n' {
			continue
		}
		c.overwrite(p[0])
		c.commit()
		c.big(p[:i+1])
		c.long = false
		p = p[i+1:]
		break
	}
	if len(p) > 0 {
		c.add(p)
	}
}

// add takes a part of a line, without its end.
func (c *cleaner) add(p []byte) {
	c.overwrite(p[0])
	if !c.long && len(c.line)+len(p) < heldLine {
		c.line = append(c.line, p...)
		return
	}
	c.commit()
	c.long = true
	c.big(p)
}

// overwrite applies a \r that came before b. What was given on of a long line
// cannot be taken back: what follows becomes a line of its own.
func (c *cleaner) overwrite(b byte) {
	if c.returned && b != '\n' {
		c.line = c.line[:0]
		if c.long {
			c.out = append(c.out, '\n')
			c.long = false
		}
	}
	c.returned = false
}

func (c *cleaner) commit() {
	c.out = append(c.out, c.line...)
	c.line = c.line[:0]
}

// big gives p on, without a copy where it is worth it.
func (c *cleaner) big(p []byte) {
	if len(p) < 4096 {
		c.out = append(c.out, p...)
		return
	}
	_ = c.give() // the capture takes everything
	_, _ = c.w.Write(p)
}

func (c *cleaner) byte(b byte) {
	if c.need > 0 && !c.continueRune(b) {
		return
	}
	if c.esc != ground && c.inEscape(b) {
		return
	}
	switch {
	case plainByte[b]:
		c.text([]byte{b})
	case b == esc:
		c.esc, c.escLen = escape, 0
	case b == '\r':
		c.returned = true
	case b == '\b':
		c.backspace()
	case b < 0x20 || b == del:
	default:
		c.startRune(b)
	}
}

func (c *cleaner) backspace() {
	if c.returned || len(c.line) == 0 {
		return
	}
	_, size := utf8.DecodeLastRune(c.line)
	c.line = c.line[:len(c.line)-size]
}

// inEscape reports whether b belongs to the escape sequence begun.
func (c *cleaner) inEscape(b byte) bool {
	if c.escLen++; c.escLen > maxEscape || b == can || b == sub {
		c.esc = ground
		return true
	}
	switch c.esc {
	case escape:
		return c.afterEsc(b)
	case escapeInter:
		return c.until(b, 0x30, 0x7e)
	case csi:
		return c.until(b, 0x40, 0x7e)
	case stringEsc:
		if b == '\\' {
			c.esc = ground
			return true
		}
		c.esc, c.escLen = escape, 0 // another sequence cuts the string short
		return c.afterEsc(b)
	}
	switch {
	case b == bel:
		c.esc = ground
	case b == esc:
		c.esc = stringEsc
	case b == '\n' && c.esc == oscString:
		c.esc = ground
		return false
	}
	return true
}

// afterEsc takes the byte after ESC.
func (c *cleaner) afterEsc(b byte) bool {
	switch {
	case b == '[':
		c.esc = csi
	case b == ']':
		c.esc = oscString
	case b == 'P' || b == 'X' || b == '^' || b == '_':
		c.esc = otherString
	case b >= 0x20 && b <= 0x2f:
		c.esc = escapeInter
	case b >= 0x30 && b <= 0x7e:
		c.esc = ground
	default:
		c.esc = ground
		return false
	}
	return true
}

// until goes on with a sequence whose last byte lies in lo–hi. Control
// characters and bytes that are not ASCII do not belong to it.
func (c *cleaner) until(b, lo, hi byte) bool {
	if b >= lo && b <= hi {
		c.esc = ground
		return true
	}
	if b < 0x20 || b >= del {
		c.esc = ground
		return false
	}
	return true
}

// startRune takes the first byte of a rune that may come in pieces.
func (c *cleaner) startRune(b byte) {
	c.lo, c.hi = 0x80, 0xbf
	switch {
	case b >= 0xc2 && b <= 0xdf:
		c.need = 1
	case b >= 0xe0 && b <= 0xef:
		c.need = 2
	case b >= 0xf0 && b <= 0xf4:
		c.need = 3
	default:
		c.add(replacement)
		return
	}
	switch b { // overlong forms, surrogates, beyond U+10FFFF
	case 0xe0:
		c.lo = 0xa0
	case 0xed:
		c.hi = 0x9f
	case 0xf0:
		c.lo = 0x90
	case 0xf4:
		c.hi = 0x8f
	}
	c.part = append(c.part[:0], b)
}

var replacement = []byte(string(utf8.RuneError))

// continueRune takes the next byte of a rune, and reports whether it is none
// of its bytes and has still to be dealt with.
func (c *cleaner) continueRune(b byte) (other bool) {
	if b < c.lo || b > c.hi {
		c.badRune()
		return true
	}
	c.lo, c.hi = 0x80, 0xbf
	c.part = append(c.part, b)
	if c.need--; c.need > 0 {
		return false
	}
	if r, _ := utf8.DecodeRune(c.part); r >= 0xa0 { // below are the C1 controls
		c.add(c.part)
	}
	return false
}

// badRune ends a rune whose rest did not come.
func (c *cleaner) badRune() {
	if c.need > 0 {
		c.need = 0
		c.add(replacement)
	}
}
