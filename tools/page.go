package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"

	"mcp-tools/tools/edit"
)

const (
	// maxLine is how many characters of a line are shown.
	maxLine = 2000
	// sniffed is how much of a file is looked at to tell text from binary.
	sniffed = 8 << 10
	// pageBuffer is how much of a file is held at once.
	pageBuffer = 64 << 10
)

var errBinary = errors.New("binary")

// A page is a run of numbered lines of a text, and what is worth knowing of the rest.
type page struct {
	text        strings.Builder
	first, last int   // lines shown; first 0: none
	cut         spans // lines not shown to their end
	lines       int   // how many the text has, as far as it was read
	complete    bool  // it was read to its end
	encoding    string
	bom         bool
	endings     edit.Endings
	openEnd     bool // the last line has no line ending
}

// A pager reads a text once, in constant memory.
type pager struct {
	page
	offset, limit int
	readOn        bool // to the end, when the page is full
	separator     byte

	chars  int    // in page.text
	head   []byte // start of the current line
	runes  int    // characters of the current line
	inLine bool
	cr     bool // the last byte was a CR
	full   bool // the page is
	utf8   utf8Check
}

// findSeparator tells what ends the lines of a text: "\n" if there is any, however
// late, else "\r" if there is any. It reads as far as it must. Errors are those
// of [readPage].
func findSeparator(ctx context.Context, r io.Reader) (byte, error) {
	raw := bufio.NewReaderSize(r, pageBuffer)
	start, err := peekStart(raw)
	if err != nil {
		return 0, err
	}
	text, err := (&pager{}).decoder(raw, start)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, pageBuffer)
	sep := byte('\n')
	for ctx.Err() == nil {
		n, err := text.Read(buf)
		if bytes.IndexByte(buf[:n], '\n') >= 0 {
			return '\n', nil
		}
		if bytes.IndexByte(buf[:n], '\r') >= 0 {
			sep = '\r'
		}
		if err == io.EOF {
			return sep, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, ctx.Err()
}

// peekStart looks at the first bytes of a file.
func peekStart(r *bufio.Reader) ([]byte, error) {
	start, err := r.Peek(pageBuffer)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, err
	}
	return start, nil
}

// readPage reads lines offset to offset+limit-1 of r, ended by sep. With readOn it
// goes on to the end of r, to count the lines. Errors: errBinary,
// [*edit.EncodingError], those of r.
func readPage(ctx context.Context, r io.Reader, sep byte, offset, limit int, readOn bool) (*page, error) {
	raw := bufio.NewReaderSize(r, pageBuffer)
	start, err := peekStart(raw)
	if err != nil {
		return nil, err
	}
	p := &pager{offset: offset, limit: limit, readOn: readOn, separator: sep}
	text, err := p.decoder(raw, start)
	if err != nil {
		return nil, err
	}
	if err := p.readAll(ctx, bufio.NewReaderSize(text, pageBuffer)); err != nil {
		return nil, err
	}
	return &p.page, nil
}

// decoder turns the bytes into UTF-8 by their byte order mark.
func (p *pager) decoder(raw *bufio.Reader, start []byte) (io.Reader, error) {
	p.encoding, p.bom = edit.DetectBOM(start)
	switch p.encoding {
	case edit.UTF16LE:
		return transform.NewReader(raw, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()), nil
	case edit.UTF16BE:
		return transform.NewReader(raw, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder()), nil
	case edit.UTF32LE:
		return transform.NewReader(raw, utf32.UTF32(utf32.LittleEndian, utf32.ExpectBOM).NewDecoder()), nil
	case edit.UTF32BE:
		return transform.NewReader(raw, utf32.UTF32(utf32.BigEndian, utf32.ExpectBOM).NewDecoder()), nil
	}
	if bytes.IndexByte(start[:min(len(start), sniffed)], 0) >= 0 {
		return nil, errBinary
	}
	if p.bom {
		n, err := raw.Discard(3)
		p.utf8.offset = int64(n)
		return raw, err
	}
	return raw, nil
}

func (p *pager) readAll(ctx context.Context, r *bufio.Reader) error {
	for {
		part, err := r.ReadSlice(p.separator)
		if bad := p.utf8.add(part, err == io.EOF); bad {
			return &edit.EncodingError{Encoding: p.encoding, Offset: int(p.utf8.offset), Line: p.lines + 1, Reason: "a byte that is no UTF-8"}
		}
		p.add(part)
		switch {
		case err == nil:
			if err := ctx.Err(); err != nil {
				return err
			}
			if p.full && !p.readOn {
				_, err := r.Peek(1)
				p.complete = err == io.EOF
				return nil
			}
		case err == io.EOF:
			p.finish()
			return nil
		case err != bufio.ErrBufferFull:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// add takes a piece of a line, with the line's end if it holds it.
func (p *pager) add(part []byte) {
	if len(part) == 0 {
		return
	}
	p.inLine = true
	ends := part[len(part)-1] == p.separator
	body := part
	if ends {
		body = part[:len(part)-1]
		p.countEnding(body)
	}
	if len(body) > 0 {
		p.cr = body[len(body)-1] == '\r'
	}
	if p.wanted() {
		p.keep(body)
	}
	if ends {
		p.endLine()
	}
}

func (p *pager) countEnding(body []byte) {
	crlf := p.cr
	if len(body) > 0 {
		crlf = body[len(body)-1] == '\r'
	}
	switch {
	case p.separator == '\r':
		p.endings.CR++
	case crlf:
		p.endings.CRLF++
	default:
		p.endings.LF++
	}
}

// wanted tells whether the current line belongs to the page.
func (p *pager) wanted() bool { return !p.full && p.lines+1 >= p.offset }

func (p *pager) keep(body []byte) {
	for _, b := range body {
		if b&0xC0 != 0x80 {
			p.runes++
		}
	}
	if room := (maxLine+1)*utf8.UTFMax - len(p.head); room > 0 {
		p.head = append(p.head, body[:min(room, len(body))]...)
	}
}

func (p *pager) endLine() {
	if p.wanted() {
		p.show()
	}
	p.lines++
	p.head, p.runes, p.inLine, p.cr = p.head[:0], 0, false, false
}

// show puts the current line on the page, unless that is full.
func (p *pager) show() {
	text, runes := string(p.head), p.runes
	if p.separator == '\n' && p.cr {
		text, runes = strings.TrimSuffix(text, "\r"), runes-1
	}
	short := runes > maxLine
	if short {
		text = text[:runeOffset(text, maxLine)] + fmt.Sprintf(" … [+%d chars]", runes-maxLine)
	}
	line := fmt.Sprintf("%4d | %s\n", p.lines+1, text)
	n := utf8.RuneCountInString(line)
	if p.chars+n > maxChars && p.first > 0 {
		p.full = true
		return
	}
	p.text.WriteString(line)
	p.chars += n
	if p.first == 0 {
		p.first = p.lines + 1
	}
	p.last = p.lines + 1
	if short {
		p.cut = append(p.cut, span{p.last, p.last})
	}
	p.full = p.last-p.first+1 >= p.limit
}

func (p *pager) finish() {
	if p.inLine {
		p.openEnd = true
		p.endLine()
	}
	p.complete = true
}

// utf8Check tells whether a stream of pieces is UTF-8.
type utf8Check struct {
	offset int64  // of the first byte not yet checked
	carry  []byte // of a character that is not complete
}

// add checks the next piece; it returns true when a byte is wrong, at offset.
func (u *utf8Check) add(part []byte, last bool) bool {
	if len(u.carry) > 0 {
		part = append(u.carry, part...)
		u.carry = nil
	}
	body := part
	if !last {
		body = part[:len(part)-incomplete(part)]
	}
	if !utf8.Valid(body) {
		for len(body) > 0 {
			r, n := utf8.DecodeRune(body)
			if r == utf8.RuneError && n == 1 {
				break
			}
			body = body[n:]
			u.offset += int64(n)
		}
		return true
	}
	u.offset += int64(len(body))
	u.carry = append([]byte(nil), part[len(body):]...)
	return false
}

// incomplete is how many bytes at the end of b begin a character that goes on.
func incomplete(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
