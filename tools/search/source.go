package search

import (
	"bytes"
	"context"
	"io"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"mcp-tools/tools/charset"
)

// Sizes of reading, in bytes.
const (
	sniffSize  = 8 << 10  // a NUL in here makes a file binary
	windowSize = 1 << 20  // what is searched at a time
	maxWindow  = 64 << 20 // how far a window grows for one long line, or for Multiline
	maxBinary  = 64 << 20 // what is searched of a binary file
	keepBuffer = 4 << 20  // larger buffers are not kept for the next file
)

// A source reads a file in windows of whole lines.
type source struct {
	ctx    context.Context
	r      io.Reader
	buf    []byte
	n      int  // bytes in buf
	from   int  // where the next window begins
	whole  bool // as much as possible at once
	eof    bool
	binary bool
	known  bool  // what encoding it is in
	ascii  int   // bytes of whole lines that are surely no other encoding's
	read   int64 // bytes of windows handed out
	long   int   // lines cut at maxWindow
	split  bool  // whole, but it did not fit
	skip   bool  // the rest of a long line is still to be passed over
}

// open starts a file: it reads the beginning, and decides by a byte order mark,
// or a NUL, what the file holds.
func (s *source) open(ctx context.Context, r io.Reader, whole bool) error {
	*s = source{ctx: ctx, r: r, buf: s.buf, whole: whole}
	if s.buf == nil {
		s.buf = make([]byte, windowSize)
	}
	if err := s.fill(sniffSize); err != nil {
		return err
	}
	head := s.buf[:min(s.n, sniffSize)]
	s.binary = bytes.IndexByte(head, 0) >= 0
	if enc, mark := byteOrderMark(head); enc != nil {
		s.from = mark
		s.decode(enc.NewDecoder().Reader)
		if err := s.fill(sniffSize); err != nil {
			return err
		}
		s.binary = bytes.IndexByte(s.buf[:min(s.n, sniffSize)], 0) >= 0
	} else if mark > 0 {
		s.from, s.known = mark, true
	}
	s.known = s.known || s.binary
	s.whole = s.whole && !s.binary
	return nil
}

// decode makes all that is still to be handed out pass through a decoder.
func (s *source) decode(with func(io.Reader) io.Reader) {
	s.r = with(io.MultiReader(bytes.NewReader(slices.Clone(s.buf[s.from:s.n])), s.r))
	s.n, s.from, s.eof, s.known = 0, 0, false, true
}

// findEncoding looks whether what was read is in an older encoding, and if so makes
// s read it as UTF-8. Until something comes that is not ASCII, it may be any.
func (s *source) findEncoding() (found bool) {
	text := s.buf[:s.n]
	first := charset.ASCII(text)
	if first == len(text) {
		return false
	}
	line := bytes.LastIndexByte(text[:first], '\n') + 1
	if line > 0 && !s.whole && !s.eof { // first what is before: then there is more to judge by
		s.ascii = line
		return false
	}
	s.known = true
	legacy, ok := charset.Detect(text)
	if ok {
		s.decode(legacy.NewLossyReader)
	}
	return ok
}

// byteOrderMark tells the encoding, nil for UTF-8, and the length of the mark.
func byteOrderMark(head []byte) (encoding.Encoding, int) {
	for _, bom := range []struct {
		mark string
		enc  encoding.Encoding
	}{
		{"\xef\xbb\xbf", nil},
		{"\xff\xfe\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
		{"\x00\x00\xfe\xff", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
		{"\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{"\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	} {
		if bytes.HasPrefix(head, []byte(bom.mark)) {
			return bom.enc, len(bom.mark)
		}
	}
	return nil, 0
}

// fill reads until buf holds want bytes, or all it can, or the file ends.
func (s *source) fill(want int) error {
	for s.n < min(want, len(s.buf)) && !s.eof {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		m, err := s.r.Read(s.buf[s.n:min(len(s.buf), s.n+windowSize)])
		s.n += m
		if err == io.EOF {
			s.eof = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// window returns the next lines, the last with its line break if it has one; nil
// at the end. "\r\n" has become "\n". It is valid until the next call.
func (s *source) window() ([]byte, error) {
	for {
		if s.from > 0 {
			s.n = copy(s.buf, s.buf[s.from:s.n])
			s.from = 0
		}
		if err := s.fill(len(s.buf)); err != nil {
			return nil, err
		}
		if s.skip && !s.passLine() {
			if s.eof {
				return nil, nil
			}
			continue
		}
		if !s.known && s.isReady() && s.findEncoding() {
			continue
		}
		text, ok := s.cut()
		if ok && len(text) == 0 {
			return nil, nil
		}
		if ok {
			s.read += int64(len(text))
			return dropCR(text), nil
		}
		s.grow()
	}
}

// passLine drops the rest of a line that was too long; false if its end is not here.
func (s *source) passLine() bool {
	end := bytes.IndexByte(s.buf[:s.n], '\n')
	if end < 0 {
		s.from = s.n
		return false
	}
	s.n = copy(s.buf, s.buf[end+1:s.n])
	s.skip = false
	if !s.eof {
		return s.fill(len(s.buf)) == nil
	}
	return true
}

// isReady tells whether no more is to be read before a window is cut.
func (s *source) isReady() bool { return s.eof || !s.whole || len(s.buf) >= maxWindow }

// cut finds the end of a window in what was read; !ok to read more first.
func (s *source) cut() (text []byte, ok bool) {
	switch {
	case s.ascii > 0:
		s.from, s.ascii = s.ascii, 0
		return s.buf[:s.from], true
	case s.eof:
		s.from = s.n
		return s.buf[:s.n], true
	case s.binary: // has no lines worth waiting for
		s.from = s.n
		return s.buf[:s.n], true
	case !s.isReady():
		return nil, false
	}
	s.split = s.whole
	if end := bytes.LastIndexByte(s.buf[:s.n], '\n'); end >= 0 {
		s.from = end + 1
		return s.buf[:s.from], true
	}
	if len(s.buf) < maxWindow {
		return nil, false
	}
	s.long++
	s.skip, s.from = true, s.n
	return s.buf[:s.n], true
}

func (s *source) grow() {
	s.buf = append(s.buf[:s.n], make([]byte, min(2*len(s.buf), maxWindow)-s.n)...)
}

// release ends the use of a file.
func (s *source) release() {
	if cap(s.buf) > keepBuffer {
		s.buf = nil
	}
	s.r = nil
}

// dropCR turns "\r\n" into "\n" in place.
func dropCR(text []byte) []byte {
	at := bytes.Index(text, []byte("\r\n"))
	if at < 0 {
		return text
	}
	to := at
	for from := at + 1; ; {
		next := bytes.Index(text[from:], []byte("\r\n"))
		if next < 0 {
			to += copy(text[to:], text[from:])
			return text[:to]
		}
		to += copy(text[to:], text[from:from+next])
		from += next + 1
	}
}

// A patientReader reads runes until the context ends: one search of a very long
// text can be broken off.
type patientReader struct {
	ctx  context.Context
	text []byte
	n    int
}

func (r *patientReader) ReadRune() (rune, int, error) {
	if r.n >= len(r.text) {
		return 0, 0, io.EOF
	}
	c, w := utf8.DecodeRune(r.text[r.n:])
	if r.n&0xffff < w && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	r.n += w
	return c, w, nil
}
