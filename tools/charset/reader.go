package charset

import "io"

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
	text, done := d.c.decode(d.buf[:0], d.raw)
	d.buf, d.text, d.err = text, text, err
	rest := d.raw[done:]
	if len(rest) > 0 && (err == io.EOF || d.c.length(rest) <= len(rest)) {
		d.err = d.c.refuse(rest, d.offset+done)
	}
	d.offset += done
	d.raw = d.raw[:copy(d.raw, rest)]
}
