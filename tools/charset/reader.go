package charset

import (
	"io"
	"unicode/utf8"
)

// NewReader decodes the stream r strictly, in little memory. At the first byte
// sequence that is not valid in the encoding it gives the text before and then an
// [*Error] with the offset in the stream, as [Encoding.Decode] would; an error of
// r itself comes after the text of what r gave before it, and then an unfinished
// character at the end is not one.
func (e Encoding) NewReader(r io.Reader) io.Reader {
	d := &reader{c: e.c, r: r}
	if e.c == nil {
		d.err = noEncoding
	}
	return d
}

// NewLossyReader decodes the stream r for someone who only looks at the text: a byte
// that begins no valid sequence becomes U+FFFD, and it goes on behind it.
func (e Encoding) NewLossyReader(r io.Reader) io.Reader {
	d := e.NewReader(r).(*reader)
	d.lossy = true
	return d
}

// longest is the length of the longest sequence in any encoding.
const longest = 4

type reader struct {
	c      *codec
	r      io.Reader
	raw    []byte // read and not decoded: less than a character, except in fill
	offset int    // of raw in the stream
	text   []byte // decoded and not given
	buf    []byte // of which text is a part
	err    error  // after text
	lossy  bool   // no invalid sequence is an error
}

func (d *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for tries := 0; len(d.text) == 0; tries++ {
		switch {
		case d.err != nil:
			return 0, d.err
		case tries == 100:
			return 0, io.ErrNoProgress
		}
		d.fill()
	}
	n := copy(p, d.text)
	d.text = d.text[n:]
	return n, nil
}

const readSize = 16 << 10

// fill reads once, and decodes all whole characters there are.
func (d *reader) fill() {
	if d.raw == nil {
		d.raw = make([]byte, 0, readSize+longest)
	}
	n, err := d.r.Read(d.raw[len(d.raw) : len(d.raw)+readSize])
	d.raw = d.raw[:len(d.raw)+n]
	text, done, bad := d.decode(err == io.EOF)
	d.buf, d.text, d.err = text, text, err
	if bad {
		d.err = d.c.refuse(d.raw[done:], d.offset+done)
	}
	d.offset += done
	d.raw = d.raw[:copy(d.raw, d.raw[done:])]
}

// decode gives the text of raw up to an unfinished character or, if it is not lossy,
// an invalid sequence; atEnd, what is unfinished is invalid.
func (d *reader) decode(atEnd bool) (text []byte, done int, bad bool) {
	text = d.buf[:0]
	for {
		var n int
		text, n = d.c.decode(text, d.raw[done:])
		done += n
		rest := d.raw[done:]
		switch {
		case len(rest) == 0, !atEnd && d.c.length(rest) > len(rest):
			return text, done, false
		case !d.lossy:
			return text, done, true
		}
		text = utf8.AppendRune(text, utf8.RuneError)
		done++
	}
}
