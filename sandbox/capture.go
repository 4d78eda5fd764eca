package sandbox

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
)

const (
	// InMemory is the size in bytes up to which an output needs no spool.
	InMemory = 30720
	// MaxSpool is the size in bytes beyond which an output is no longer kept whole.
	MaxSpool = 128 << 20

	// Each end of an output that memory keeps: 25,000 runes of any width.
	endSize = 100 << 10

	previewFirst = 60
	previewLast  = 140
)

// dropped closes a spool that did not get everything.
const dropped = "\n[output beyond 128 MiB was dropped]\n"

var errNotKept = errors.New("the output was not kept whole")

// Spool keeps the whole of an output that is too large for memory.
type Spool interface {
	io.Writer
	io.ReaderAt
	io.Closer
	// Discard closes and removes what was kept.
	Discard() error
}

// Captured is an output in bounded memory (200 KiB) and, where it is longer
// than [InMemory], whole in a [Spool], which is made when first needed.
//
// It is a writer of UTF-8 text, and what has been written can be read at any
// time; but it is not safe for concurrent use. Write never fails: a spool that
// cannot be made or written costs the whole text, see [Captured.SpoolErr], but
// not the counts and the preview. The owner must call Discard, or take the
// spool over with TakeSpool.
type Captured struct {
	newSpool func() (Spool, error)
	spool    Spool
	spoolErr error
	spooled  int64 // bytes of text in spool
	limit    int64 // of spooled
	full     bool  // limit was reached

	bytes, chars, newlines int64
	open                   bool // the last byte was not a line break

	head []byte // the first endSize bytes
	tail []byte // a ring of the last endSize bytes, made when head is full
	next int    // where in tail the next byte goes

	first count // of the first previewFirst lines
	last  lineRing
}

type count struct{ bytes, chars int64 }

// NewCaptured returns an empty output. Without a spool (nil) long ones are
// kept in part only.
func NewCaptured(spool func() (Spool, error)) *Captured {
	return &Captured{newSpool: spool, limit: MaxSpool}
}

// Bytes is the exact length of all that was written.
func (c *Captured) Bytes() int64 { return c.bytes }

// Chars is the exact number of runes written.
func (c *Captured) Chars() int64 { return c.chars }

// Lines is the exact number of lines; a last one may lack its line break.
func (c *Captured) Lines() int64 {
	if c.open {
		return c.newlines + 1
	}
	return c.newlines
}

// EndsLine reports whether there is no unfinished last line.
func (c *Captured) EndsLine() bool { return !c.open }

// Large reports whether the output is longer than [InMemory].
func (c *Captured) Large() bool { return c.bytes > InMemory }

// Dropped is the number of bytes the spool did not get because of [MaxSpool].
func (c *Captured) Dropped() int64 {
	if c.spool == nil {
		return 0
	}
	return c.bytes - c.spooled
}

// SpoolErr says why a large output is not kept whole, if so.
func (c *Captured) SpoolErr() error { return c.spoolErr }

// Write adds text. It never fails.
func (c *Captured) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.keepWhole(p)
	c.keepEnds(p)
	c.countLines(p)
	c.bytes += int64(len(p))
	c.chars += runeStarts(p)
	c.open = p[len(p)-1] != '\n'
	return len(p), nil
}

// WriteString is Write for a string.
func (c *Captured) WriteString(s string) (int, error) { return c.Write([]byte(s)) }

func (c *Captured) keepWhole(p []byte) {
	if c.spoolErr != nil || c.bytes+int64(len(p)) <= InMemory {
		return
	}
	if c.spool == nil {
		c.startSpool()
	}
	c.toSpool(p)
}

// startSpool makes the spool and gives it what memory has held so far.
func (c *Captured) startSpool() {
	if c.newSpool == nil {
		c.spoolErr = errNotKept
		return
	}
	s, err := c.newSpool()
	if err != nil {
		c.spoolErr = err
		return
	}
	c.spool = s
	c.toSpool(c.head)
}

func (c *Captured) toSpool(p []byte) {
	if c.spoolErr != nil || c.full {
		return
	}
	if room := c.limit - c.spooled; int64(len(p)) > room {
		c.full = true
		p = p[:runeFloor(p, int(room))]
	}
	n, err := c.spool.Write(p)
	c.spooled += int64(n)
	if err == nil && c.full {
		_, err = io.WriteString(c.spool, dropped)
	}
	if err != nil {
		c.spoolErr = err
		_ = c.spool.Discard() // the disk is full: give the room back
		c.spool = nil
	}
}

func (c *Captured) keepEnds(p []byte) {
	if room := endSize - len(c.head); room > 0 {
		n := min(room, len(p))
		c.head = append(c.head, p[:n]...)
	}
	if c.bytes+int64(len(p)) <= endSize {
		return
	}
	if c.tail == nil {
		// What came before is all in head, and may be part of the end too.
		c.tail = make([]byte, endSize)
		c.ring(c.head[:c.bytes])
	}
	c.ring(p)
}

func (c *Captured) ring(p []byte) {
	if len(p) > len(c.tail) {
		p = p[len(p)-len(c.tail):]
	}
	n := copy(c.tail[c.next:], p)
	copy(c.tail, p[n:])
	c.next = (c.next + len(p)) % len(c.tail)
}

// countLines keeps the sizes of the first and the last lines. Only the last
// lines of p matter for the latter: the rest is counted at memory speed.
func (c *Captured) countLines(p []byte) {
	breaks := int64(bytes.Count(p, []byte{'\n'}))
	if c.newlines < previewFirst {
		c.first = c.first.plus(p[:lineEnd(p, previewFirst-c.newlines)])
	}
	c.newlines += breaks
	if breaks > previewLast {
		p = p[lastLines(p, previewLast+1):]
		c.last.n = 0 // all that was there is older
	}
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		c.last.add(p[:i+1], true)
		p = p[i+1:]
	}
	c.last.add(p, false)
}

func (n count) plus(p []byte) count {
	return count{n.bytes + int64(len(p)), n.chars + runeStarts(p)}
}

// lineEnd is where the n-th line of p ends.
func lineEnd(p []byte, n int64) int {
	end := 0
	for ; n > 0; n-- {
		i := bytes.IndexByte(p[end:], '\n')
		if i < 0 {
			return len(p)
		}
		end += i + 1
	}
	return end
}

// lastLines is where the last n line breaks of p begin, counting back from its
// end: the index after the (n+1)-th last one, or 0.
func lastLines(p []byte, n int) int {
	end := len(p)
	for ; n >= 0; n-- {
		i := bytes.LastIndexByte(p[:end], '\n')
		if i < 0 {
			return 0
		}
		end = i
	}
	return end + 1
}

// lineRing holds the sizes of the last lines. The newest may be unfinished,
// hence one more than shown.
type lineRing struct {
	size [previewLast + 1]count
	end  int // where the unfinished line is counted
	n    int // finished lines, at most previewLast
}

func (r *lineRing) add(p []byte, finished bool) {
	r.size[r.end] = r.size[r.end].plus(p)
	if !finished {
		return
	}
	r.end = (r.end + 1) % len(r.size)
	r.size[r.end] = count{}
	r.n = min(r.n+1, previewLast)
}

// sum adds up the last lines, the unfinished one, if any, being one of them.
func (r *lineRing) sum(lines int, open bool) count {
	var t count
	i := r.end
	if open {
		t, lines = r.size[i], lines-1
	}
	for range min(lines, r.n) {
		i = (i + len(r.size) - 1) % len(r.size)
		t.bytes += r.size[i].bytes
		t.chars += r.size[i].chars
	}
	return t
}

// Text returns the whole text if memory has it, which is always so where it is
// not Large.
func (c *Captured) Text() (string, bool) {
	if c.bytes > int64(len(c.head)) {
		return "", false
	}
	return string(c.head), true
}

// WriteTo writes the whole text to w: with what a spool's end says about
// dropped output, but not what was dropped.
func (c *Captured) WriteTo(w io.Writer) (int64, error) {
	r, err := c.Open()
	if err != nil {
		return 0, err
	}
	return io.Copy(w, r)
}

// Open returns the whole text from its beginning, for as long as the spool is
// open. It fails where the text was not kept whole.
func (c *Captured) Open() (io.Reader, error) {
	if c.spool != nil {
		return io.NewSectionReader(c.spool, 0, math.MaxInt64), nil
	}
	if c.bytes <= int64(len(c.head)) {
		return bytes.NewReader(c.head), nil
	}
	return nil, errors.Join(errNotKept, c.spoolErr)
}

// Append adds title and all of o, the spool's limit notwithstanding. If o was
// not kept whole, what memory has of it is added with a note between.
func (c *Captured) Append(title string, o *Captured) error {
	c.limit = max(c.limit, c.spooled) + int64(len(title)) + min(o.bytes, MaxSpool) + int64(len(dropped))
	c.full = false
	c.WriteString(title)
	r, err := o.Open()
	if err != nil {
		r = strings.NewReader(o.Preview(""))
	}
	_, err = io.Copy(onlyWriter{c}, r)
	return err
}

// onlyWriter hides ReadFrom and the like, so that io.Copy uses its own buffer.
type onlyWriter struct{ io.Writer }

// TakeSpool hands over the spool with the whole text, nil if there is none.
// From then on only counts, Preview and short texts are to be had.
func (c *Captured) TakeSpool() Spool {
	s := c.spool
	c.spool = nil
	if s != nil {
		c.spoolErr = errNotKept
	}
	return s
}

// Discard removes the spool.
func (c *Captured) Discard() error {
	if c.spool == nil {
		return nil
	}
	return c.TakeSpool().Discard()
}
