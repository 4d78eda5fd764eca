package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"mcp-tools/tools/media/internal/pdf"
)

const (
	// MaxPDFBytes is how long a PDF may be.
	MaxPDFBytes = 100 << 20
	// MaxPDFChars is how many characters one call gives.
	MaxPDFChars = 50_000
	// MaxPDFTime is how long one call works, whatever its context allows.
	MaxPDFTime = 20 * time.Second
)

// ErrEncrypted: the PDF needs a password, or is protected by an empty one.
var ErrEncrypted = pdf.ErrEncrypted

var errPDFTime = fmt.Errorf("it takes longer than %v to read", MaxPDFTime)

// PDFOptions says what of a PDF is wanted. The zero value is its beginning.
type PDFOptions struct {
	From, To int // pages, from 1; 0 is the first, and as many as are allowed
	MaxChars int // from 1 to MaxPDFChars, which 0 means too
}

// PDF is the text of some pages of a PDF.
type PDF struct {
	Pages int       // how many the file has
	Shown []PDFPage // without gaps; at least one
	Next  int       // the page to go on with, 0 after the last
	Notes []string  // sentences about the whole
}

// PDFPage is the text of one page.
type PDFPage struct {
	Number int
	Text   string // lines in the order in which the page draws them, "" if it has none
	Note   string // a sentence on what is missing, or ""
}

// IsPDF says by the first bytes whether [ReadPDF] takes a file. White space and
// a byte order mark may come before the header.
func IsPDF(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	return bytes.HasPrefix(bytes.TrimLeft(head[:min(len(head), 1024)], " \t\r\n\x00"), []byte("%PDF-"))
}

// ReadPDF reads the text of at most [MaxPDFPages] pages of a PDF of at most
// [MaxPDFBytes].
//
// The text comes in the order in which the pages draw it, which is reading order
// in nearly all files, columns included. Spaces and line breaks are put in
// by the positions of the characters; a tab is a wide gap, as in tables. Text
// that runs from right to left may come reversed. Pages follow each other until
// the next would not fit whole into MaxChars; only a first page that alone is
// longer is cut.
//
// A broken file is read as far as it goes. The error, in plain words, says that
// the file is too large, encrypted (errors.Is [ErrEncrypted]) or broken beyond
// repair, that it does not have page From, or that it takes too much work or
// more than [MaxPDFTime]. A page that has no text, since it is a scan, or that
// cannot be read, says so in its Note.
//
// Everything happens in the caller's goroutine: when ReadPDF returns, soon after
// ctx ends at the latest, nothing runs on. Memory: the size of the file and at
// most about 150 MB; usual files take a few MB besides themselves.
func ReadPDF(ctx context.Context, r io.ReaderAt, size int64, o PDFOptions) (PDF, error) {
	if size > MaxPDFBytes {
		return PDF{}, fmt.Errorf("this PDF has %s, and at most %s are read", megabytes(int(size)), megabytes(MaxPDFBytes))
	}
	if size > bigDecode {
		select {
		case big <- struct{}{}:
			defer func() { <-big }()
		case <-ctx.Done():
			return PDF{}, context.Cause(ctx)
		}
		defer debug.FreeOSMemory()
	}
	data, err := readAll(ctx, r, size)
	if err != nil {
		return PDF{}, fmt.Errorf("this PDF cannot be read: %w", err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, MaxPDFTime, errPDFTime)
	defer cancel()
	f, err := pdf.Open(limited, data)
	if err != nil {
		return PDF{}, openError(ctx, size, err)
	}
	return readPages(ctx, f, o)
}

// readPages reads what is wanted of an open file.
func readPages(ctx context.Context, f *pdf.File, o PDFOptions) (PDF, error) {
	p := PDF{Pages: f.Pages()}
	from, to := max(o.From, 1), o.To
	if from > p.Pages {
		return PDF{}, fmt.Errorf("this PDF has %s, and no page %d", count(p.Pages), from)
	}
	if to < from || to-from >= MaxPDFPages {
		to = from + MaxPDFPages - 1
	}
	if o.MaxChars <= 0 || o.MaxChars > MaxPDFChars {
		o.MaxChars = MaxPDFChars
	}
	if err := p.read(ctx, f, from, min(to, p.Pages), o.MaxChars); err != nil {
		return PDF{}, err
	}
	return p, nil
}

// readAll reads the file in pieces, so that a slow one is given up with ctx.
func readAll(ctx context.Context, r io.ReaderAt, size int64) ([]byte, error) {
	const piece = 4 << 20
	data := make([]byte, size)
	for at := int64(0); at < size; at += piece {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		part := data[at:min(at+piece, size)]
		if n, err := r.ReadAt(part, at); n < len(part) {
			return nil, err
		}
	}
	return data, nil
}

func openError(ctx context.Context, size int64, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, pdf.ErrEncrypted):
		return fmt.Errorf("this PDF cannot be read: %w. A copy without protection can be (qpdf --decrypt in.pdf out.pdf, with --password=… if it needs one)", err)
	case errors.Is(err, pdf.ErrBroken):
		return fmt.Errorf("this PDF (%s) cannot be read: %w", megabytes(int(size)), err)
	}
	return fmt.Errorf("this PDF cannot be read: %w", err)
}

// read reads pages until they are enough.
func (p *PDF) read(ctx context.Context, f *pdf.File, from, to, left int) error {
	n := from
	for ; n <= to; n++ {
		page, err := f.Text(n, left)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, pdf.ErrBroken) {
			if len(p.Shown) == 0 {
				return fmt.Errorf("page %d of this PDF cannot be read: %w", n, err)
			}
			p.Notes = append(p.Notes, fmt.Sprintf("The reading was ended before page %d, for %v.", n, err))
			break
		}
		if page.Cut && len(p.Shown) > 0 {
			break
		}
		p.Shown = append(p.Shown, PDFPage{n, page.Text, pageNote(page, err)})
		left -= len([]rune(page.Text))
		if page.Cut || left <= 0 {
			n++
			break
		}
	}
	if n <= p.Pages {
		p.Next = n
		p.Notes = append(p.Notes, fmt.Sprintf("The PDF has %s; go on with pages \"%d-\".", count(p.Pages), n))
	}
	return nil
}

func pageNote(page pdf.Page, err error) string {
	switch {
	case err != nil:
		return "The rest of this page is broken and cannot be read."
	case page.Cut:
		return "This page is longer than one call may give; its end is left out."
	case page.Empty() && page.Glyphs > 0:
		return "This page has text, but its fonts do not say which characters they draw, so it cannot be read as text."
	case page.Empty() && page.Picture:
		return "This page has no text; it probably is an image, as of a scan."
	case page.Empty():
		return "This page has no text; it is empty, or its content is drawn as shapes."
	case page.Garbled():
		return "The fonts of this page do not say for most characters (here \ufffd) which they are."
	}
	return ""
}

func count(pages int) string {
	if pages == 1 {
		return "1 page"
	}
	return fmt.Sprintf("%d pages", pages)
}

// String gives all of it as one text for a model: each page below a line with
// its number, and the notes in brackets.
func (p PDF) String() string {
	var b strings.Builder
	for _, page := range p.Shown {
		fmt.Fprintf(&b, "--- page %d of %d ---\n", page.Number, p.Pages)
		if page.Text != "" {
			b.WriteString(page.Text + "\n")
		}
		if page.Note != "" {
			fmt.Fprintf(&b, "[%s]\n", page.Note)
		}
	}
	for _, note := range p.Notes {
		fmt.Fprintf(&b, "[%s]\n", note)
	}
	return b.String()
}
