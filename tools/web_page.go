package tools

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	neturl "net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-tools/tools/fetch"
	"mcp-tools/tools/fetch/body"
	htmlpage "mcp-tools/tools/fetch/page"
	"mcp-tools/tools/media"
)

// How an answer of the web becomes text.

// accepted are the media types that are asked for, the best first.
const accepted = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.5"

// page is the page at url in a format: the one that is kept, if it is fresh or has not
// changed, or a new one.
func (e *Env) page(ctx context.Context, url, format string, permit func(*neturl.URL) error) (*webPage, error) {
	key := format + " " + url
	kept, fresh, ok := e.pages.Get(key)
	if ok { // it may have come from elsewhere, and from another session
		if from, err := neturl.Parse(kept.Value.url); err != nil || permit(from) != nil {
			fresh, ok = false, false
		}
	}
	if fresh {
		return kept.Value, nil
	}
	req := fetch.Request{URL: url, Permit: permit, Accept: accepted, Progress: fetchProgress(ctx)}
	if format == "raw" || format == "html" {
		req.Accept = "*/*"
	}
	if ok {
		req.ETag, req.LastModified, req.Of = kept.ETag, kept.LastModified, kept.Value.url
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetch.Timeout, fetch.ErrTimeout) // of the conversion too
	defer cancel()
	res, err := e.Fetch.Get(ctx, req)
	if err != nil {
		return nil, err
	}
	if ok && res.NotModified {
		again := *kept.Value
		again.time, kept.Value, kept.Time = res.Time, &again, res.Time
		e.pages.Put(key, kept)
		return &again, nil
	}
	p, err := converted(ctx, res, format)
	if err != nil {
		return nil, err
	}
	if res.Status == http.StatusOK && res.Moved == nil && (res.Cut == "" || len(res.Body) == fetch.MaxBody) { // one that broke off may come whole
		e.pages.Put(key, fetch.Cached[*webPage]{Value: p, Size: p.size(), ETag: res.Header.Get("ETag"), LastModified: res.Header.Get("Last-Modified"), Time: res.Time})
	}
	return p, nil
}

func (p *webPage) size() int {
	n := len(p.text) + len(p.title) + 1<<10
	for _, i := range p.images {
		n += len(i.Data)
	}
	return n
}

// fetchProgress tells a waiting client how much has come, four times a second.
func fetchProgress(ctx context.Context) func(read, total int64) {
	report := ProgressOf(ctx)
	if report == nil {
		return nil
	}
	var mu sync.Mutex
	last := time.Now()
	return func(read, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) < 250*time.Millisecond {
			return
		}
		last = time.Now()
		report(Progress{Progress: float64(read), Total: float64(max(total, 0)), Message: byteSize(read) + " read"})
	}
}

// newWebPage makes what can be read of an answer.
func newWebPage(ctx context.Context, res *fetch.Response, format string) (*webPage, error) {
	p := &webPage{url: res.URL.String(), status: res.Status, time: res.Time}
	if wait, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && wait > 0 {
		p.retry = wait
	}
	if res.Moved != nil {
		p.moved = res.Moved.String()
		return p, nil
	}
	if res.Cut != "" {
		p.notes = append(p.notes, "the page is incomplete: "+res.Cut)
	}
	header := res.Header.Get("Content-Type")
	kind, name := body.KindOf(header, res.Body)
	p.about = name
	switch kind {
	case body.Picture, body.PDF, body.Binary:
		if res.Status >= http.StatusBadRequest { // the status says it
			return p, nil
		}
	}
	if res.Cut != "" && (kind == body.Picture || kind == body.PDF || kind == body.Binary) {
		return nil, fmt.Errorf("it is %s of which only a part came: %s", name, res.Cut)
	}
	switch kind {
	case body.Picture:
		return p, p.addPicture(ctx, res.Body)
	case body.PDF:
		return p, p.addPDF(ctx, res.Body)
	case body.Binary:
		return nil, binaryAnswer(res, name)
	}
	text, notes := body.Decode(res.Body, header, kind)
	p.notes = append(p.notes, notes...)
	p.addText(text, kind, res, format)
	return p, nil
}

// largePage is the size in bytes from which on only two pages are taken apart at a time,
// for that takes many times their size; of the others there are eight.
const largePage = 256 << 10

var (
	largePages = make(chan struct{}, 2)
	smallPages = make(chan struct{}, 8)
)

// converted makes what can be read of an answer, within the time of the call: what a
// page is made of is work without an end of its own, and is left to itself then.
func converted(ctx context.Context, res *fetch.Response, format string) (*webPage, error) {
	slots := smallPages
	if len(res.Body) > largePage {
		slots = largePages
	}
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	type made struct {
		page *webPage
		err  error
	}
	done := make(chan made, 1)
	go func() {
		defer func() { <-slots }()
		defer func() {
			if v := recover(); v != nil {
				done <- made{err: fmt.Errorf("it could not be read: that is a fault of this program (%v)", v)}
			}
		}()
		p, err := newWebPage(ctx, res, format)
		done <- made{p, err}
	}()
	select {
	case m := <-done:
		return m.page, m.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// addText makes of a text what the format asks for.
func (p *webPage) addText(text string, kind body.Kind, res *fetch.Response, format string) {
	if format == "raw" {
		p.text = htmlpage.Visible(text)
		return
	}
	switch kind {
	case body.HTML:
		p.addHTML(text, res, format)
		return
	case body.JSON:
		if feed, ok := body.Feed(text, kind, res.URL); ok && format != "html" {
			p.text, p.about = feed, p.about+", the entries of a feed"
			return
		}
		var notes []string
		text, notes = body.Indent(text)
		p.notes = append(p.notes, notes...)
	case body.XML:
		if feed, ok := body.Feed(text, kind, res.URL); ok && format != "html" {
			p.text, p.about = feed, p.about+", the entries of a feed"
			return
		}
		text = body.Pretty(text)
	}
	p.text = htmlpage.Visible(text)
}

func (p *webPage) addHTML(text string, res *fetch.Response, format string) {
	formats := map[string]htmlpage.Format{"markdown": htmlpage.Markdown, "text": htmlpage.Text, "html": htmlpage.HTML}
	source := []byte(text)
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/xhtml+xml" {
		source = htmlpage.FromXHTML(source)
	}
	made := htmlpage.Read(source, res.URL, formats[format])
	p.title, p.text = made.Title, made.Text
	p.about = made.Part
	if format != "markdown" {
		p.about += " as " + format
	}
	p.notes = append(p.notes, made.Notes...)
}

func (p *webPage) addPicture(ctx context.Context, content []byte) error {
	pic, err := media.ReadPicture(ctx, content)
	if err != nil {
		return err
	}
	p.about = fmt.Sprintf("%s, %d × %d px", pic.MIMEType, pic.Width, pic.Height)
	p.notes = append(p.notes, pic.Notes...)
	p.images = []Image{{MIMEType: pic.MIMEType, Data: pic.Data}}
	return nil
}

// maxPDFParts is how often the next pages of a PDF are read.
const maxPDFParts = 10

func (p *webPage) addPDF(ctx context.Context, content []byte) error {
	var b strings.Builder
	from := 1
	for range maxPDFParts {
		doc, err := media.ReadPDF(ctx, bytes.NewReader(content), int64(len(content)), media.PDFOptions{From: from})
		if err != nil && b.Len() == 0 {
			return err
		}
		if err != nil {
			p.notes = append(p.notes, fmt.Sprintf("pages from %d on could not be read: %v", from, err))
			break
		}
		if p.about = fmt.Sprintf("application/pdf, %d pages", doc.Pages); doc.Pages == 1 {
			p.about = "application/pdf, 1 page"
		}
		next := doc.Next
		doc.Next = 0 // these pages are told by their characters
		b.WriteString(doc.String() + "\n")
		if from = next; next == 0 {
			break
		}
	}
	if from > 0 {
		p.notes = append(p.notes, fmt.Sprintf("only the pages before %d were read: it is too long for this tool", from))
	}
	p.text = htmlpage.Visible(strings.TrimSpace(b.String()))
	return nil
}

// binaryAnswer refuses what is neither text nor picture.
func binaryAnswer(res *fetch.Response, name string) error {
	what := ""
	if _, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		what = fmt.Sprintf(" called %q", htmlpage.Visible(shorten(params["filename"], maxWord)))
	}
	return fmt.Errorf("it is a binary file%s (%s, %s), which cannot be shown. Use run_shell to download it, if that is allowed", what, name, byteSize(int64(len(res.Body))))
}
