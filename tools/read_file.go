package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/gabriel-vasile/mimetype"

	"mcp-tools/sandbox"
	"mcp-tools/tools/charset"
	"mcp-tools/tools/edit"
	"mcp-tools/tools/media"
)

// defaultLimit is how many lines read_file shows unless told otherwise.
const defaultLimit = 2000

// maxRead is how long a page may take to be found in a huge file.
const maxRead = 60 * time.Second

var errReadTooLong = fmt.Errorf("finding these lines took longer than %v; the file is huge. Take an offset nearer to its beginning, or grep_search", maxRead)

// readFileName is also the name under which rules see that a file is read as a resource.
const readFileName = "read_file"

func readFile() Tool {
	return New(Tool{
		Name:  readFileName,
		Title: "Read file",
		Description: "Reads a text file and shows its lines with their numbers; pictures as images, PDF as text, notebooks by cells. Use it before editing a file, and to see any file whose path you know. " +
			"Long files come in pages: the closing line says how to go on. The prefix of a line (number, bar) is not part of the file. " +
			"Knows UTF-8, UTF-16, UTF-32 and, where they can be told for sure, older encodings such as GBK, Shift_JIS or windows-1252.",
		Aliases:   []string{"read", "view", "cat"},
		Traits:    Traits{ReadOnly: true, ConcurrencySafe: true, Idempotent: true, ClosedWorld: true},
		MaxResult: -1,
		Reveals:   true,
	}, runReadFile)
}

type readFileInput struct {
	FilePath string `json:"file_path" jsonschema:"Path: absolute, relative to the workspace, or file://."`
	Offset   *int   `json:"offset,omitempty" jsonschema:"First line, from 1; -20: the last 20 lines."`
	Limit    *int   `json:"limit,omitempty" jsonschema:"Lines to show at most (2000)."`
	Pages    string `json:"pages,omitempty" jsonschema:"Of a PDF: 3, 1-5 or 2- (from the first)."`
	Encoding string `json:"encoding,omitempty" jsonschema:"Of the text, where it is not found out: GBK, windows-1251, …"`
}

func (in readFileInput) Validate(*Session) error {
	if in.FilePath == "" {
		return errors.New("file_path must not be empty")
	}
	if in.Limit != nil && *in.Limit < 1 {
		return fmt.Errorf("limit must be at least 1, but %d came", *in.Limit)
	}
	if in.Pages != "" {
		if _, _, err := media.ParsePages(in.Pages); err != nil {
			return err
		}
	}
	if in.Encoding == "" || isUnicodeName(in.Encoding) {
		return nil
	}
	if _, ok := charset.Named(in.Encoding); !ok {
		return fmt.Errorf("encoding %s is not known; there are UTF-8, %s", shorten(in.Encoding, maxWord), strings.Join(charset.Names(), ", "))
	}
	return nil
}

// isUnicodeName: the encoding is one that is always found out.
func isUnicodeName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
	return name == "utf8" || name == "ascii" || name == "usascii"
}

func (in readFileInput) Target(ctx context.Context, s *Session) (Subject, error) {
	subject, err := s.pathSubject(ctx, in.FilePath)
	var path *pathFailure
	if errors.As(err, &path) && !errors.Is(err, sandbox.ErrEscapes) {
		err = readError(err)
	}
	return subject, err
}

func runReadFile(ctx context.Context, s *Session, in readFileInput) (Output, error) {
	ws, p, err := s.resolve(ctx, in.FilePath)
	if err != nil {
		return Output{}, err
	}
	if err := ws.Settle(ctx, p); err != nil {
		return Output{}, err
	}
	f, info, err := ws.Open(p)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Output{}, readError(s.notFound(ws, in.FilePath, p))
		}
		return Output{}, readError(pathError(in.FilePath, err))
	}
	defer f.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, maxRead, errReadTooLong)
	defer cancel()
	r := &fileReader{ctx: ctx, f: f, info: info}
	r.legacy, r.named = charset.Named(in.Encoding)
	var notes []string
	if out, ok, err := s.showMedia(in, r); ok {
		if err != nil {
			err = readError(err)
		}
		return out, err
	}
	if in.Pages != "" {
		notes = append(notes, "ignored pages: it is for PDF files")
	}
	if isNotebook(p) {
		out, err := s.showNotebook(in, p, r)
		if err == nil {
			return out, nil
		}
		notes = append(notes, "not shown as a notebook: "+err.Error())
	}
	pg, err := r.page(in)
	if err != nil {
		if errors.Is(context.Cause(ctx), errReadTooLong) {
			err = errReadTooLong
		}
		return Output{}, readError(r.explain(in.FilePath, err))
	}
	out, err := s.showPage(in, p, r, pg)
	out.Notes = append(notes, out.Notes...)
	return out, err
}

func readError(err error) error {
	return Fail(Output{Text: "Error reading file: " + err.Error()})
}

// fileReader reads a page of an open file, and makes its version on the way.
type fileReader struct {
	ctx     context.Context
	f       *os.File
	info    fs.FileInfo
	content []byte // all of it, if loaded
	loaded  bool
	text    *string             // the whole text, if small
	bad     *edit.EncodingError // why there is none
	version sandbox.Version

	legacy charset.Encoding // that the text is in; zero: UTF-8, or what its byte order mark says
	named  bool             // by the model
}

func (r *fileReader) small() bool { return r.info.Size() <= maxSnapshot }

// hashed: the version is made of the content, so all of it is read.
func (r *fileReader) hashed() bool { return r.info.Size() <= sandbox.MaxHashed }

func (r *fileReader) page(in readFileInput) (*page, error) {
	offset, limit := 1, defaultLimit
	if in.Limit != nil {
		limit = *in.Limit
	}
	if in.Offset != nil && *in.Offset != 0 {
		offset = *in.Offset
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	pg, err := r.pageOf(offset, limit)
	var bad *edit.EncodingError
	if errors.As(err, &bad) && bad.Encoding == edit.UTF8 && !r.named && in.Encoding == "" && r.findLegacy() {
		return r.pageOf(offset, limit)
	}
	return pg, err
}

func (r *fileReader) pageOf(offset, limit int) (*page, error) {
	sep, err := findSeparator(r.ctx, r.text8(r.start()))
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		all, err := readPage(r.ctx, r.text8(r.start()), sep, math.MaxInt, 1, true)
		if err != nil {
			return nil, err
		}
		offset = max(1, all.lines+max(offset, -all.lines)+1)
	}
	return r.pageAt(sep, offset, limit)
}

// load reads a small file into memory: all passes then see one content.
func (r *fileReader) load() error {
	if !r.small() {
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(r.f, maxSnapshot+1))
	if err != nil {
		return err
	}
	if len(content) > maxSnapshot { // it has grown meanwhile
		return nil
	}
	r.content, r.loaded = content, true
	r.version = sandbox.VersionOf(content)
	t, err := r.decode(content)
	if err == nil {
		r.text = &t.Body
	}
	errors.As(err, &r.bad)
	return nil
}

func (r *fileReader) decode(content []byte) (edit.Text, error) {
	if r.named {
		return edit.DecodeAs(content, r.legacy.Name())
	}
	return edit.Decode(content)
}

// findLegacy finds out in which legacy encoding the file is, from where it is not
// ASCII any more. It looks at what [edit.Decode] would look at.
func (r *fileReader) findLegacy() bool {
	const before, after = 64 << 10, 1 << 20
	first, err := firstHigh(r.ctx, r.start())
	if err != nil {
		return false
	}
	from := max(0, first-before)
	sample := make([]byte, first-from+after)
	n, err := r.at(sample, from)
	if err != nil && err != io.EOF {
		return false
	}
	var ok bool
	r.legacy, ok = charset.Detect(sample[:n])
	return ok
}

func (r *fileReader) at(b []byte, offset int64) (int, error) {
	if r.loaded {
		return bytes.NewReader(r.content).ReadAt(b, offset)
	}
	return r.f.ReadAt(b, offset)
}

// firstHigh is the offset of the first byte that is not ASCII.
func firstHigh(ctx context.Context, r io.Reader) (int64, error) {
	buf := make([]byte, pageBuffer)
	var offset int64
	for ctx.Err() == nil {
		n, err := r.Read(buf)
		plain := charset.ASCII(buf[:n])
		offset += int64(plain)
		if plain < n {
			return offset, nil
		}
		if err != nil {
			return offset, err
		}
	}
	return 0, context.Cause(ctx)
}

// start reads the file from its beginning to where it ended when it was opened: a
// file that grows all the while has an end too.
func (r *fileReader) start() io.Reader {
	if r.loaded {
		return bytes.NewReader(r.content)
	}
	return io.NewSectionReader(r.f, 0, r.info.Size())
}

func (r *fileReader) pageAt(sep byte, offset, limit int) (*page, error) {
	read := func(raw io.Reader, readOn bool) (*page, error) {
		pg, err := readPage(r.ctx, r.text8(raw), sep, offset, limit, readOn)
		if err == nil && r.isLegacy() {
			pg.encoding = r.legacy.Name()
		}
		return pg, err
	}
	switch {
	case r.loaded:
		return read(r.start(), true)
	case !r.hashed():
		r.version = sandbox.StatVersion(r.info)
		return read(r.start(), false)
	}
	h := sandbox.NewHasher()
	pg, err := read(io.TeeReader(io.LimitReader(r.start(), sandbox.MaxHashed+1), h), true)
	r.version = h.Version()
	return pg, err
}

func (r *fileReader) isLegacy() bool { return r.legacy != charset.Encoding{} }

// text8 turns the file's bytes into UTF-8, where its encoding is a legacy one.
func (r *fileReader) text8(raw io.Reader) io.Reader {
	if r.isLegacy() {
		return r.legacy.NewReader(raw)
	}
	return raw
}

// explain says why a file can't be shown.
func (r *fileReader) explain(name string, err error) error {
	shown := shorten(name, maxPathShown)
	if errors.Is(err, errReadTooLong) || isContextError(err) {
		return err
	}
	var other *charset.Error
	if errors.As(err, &other) {
		return fmt.Errorf("%s is not text in %s: %v. Leave out encoding to have it found out", shown, r.legacy.Name(), other)
	}
	var bad *edit.EncodingError
	encoding := errors.As(err, &bad)
	if !encoding && !errors.Is(err, errBinary) {
		return pathError(name, err)
	}
	kind, isText := r.kind()
	if encoding && isText {
		return fmt.Errorf("%s is not UTF-8 text: byte %d (line %d) does not fit, and it is not surely in another encoding. If you know which it is, pass encoding (GBK, Shift_JIS, windows-1252, …)", shown, bad.Offset, bad.Line)
	}
	return fmt.Errorf("%s is a binary file (%s, %s). read_file shows text, pictures (PNG, JPEG, GIF, WebP) and PDF", shown, kind, byteSize(r.info.Size()))
}

// kind tells the type of the file by its first bytes.
func (r *fileReader) kind() (name string, text bool) {
	if _, err := r.f.Seek(0, io.SeekStart); err != nil {
		return "unknown kind", false
	}
	head := make([]byte, sniffed)
	n, _ := io.ReadFull(r.f, head)
	t := mimetype.Detect(head[:n])
	for p := t; p != nil; p = p.Parent() {
		if p.Is("text/plain") {
			return t.String(), true
		}
	}
	if t.Is("application/octet-stream") { // no signature: text in a legacy encoding has none either
		return "unknown kind", bytes.IndexByte(head[:n], 0) < 0
	}
	return t.String(), false
}

func byteSize(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

// showPage makes the result and records what was shown.
func (s *Session) showPage(in readFileInput, p sandbox.Path, r *fileReader, pg *page) (Output, error) {
	if pg.first == 0 && pg.lines > 0 {
		return Output{}, readError(fmt.Errorf("offset %d is past the end of %s, which has %d lines", *in.Offset, shorten(in.FilePath, maxPathShown), pg.lines))
	}
	out := Output{Text: strings.TrimSuffix(pg.text.String(), "\n")}
	if pg.lines == 0 {
		out.Text = "(empty file)"
	}
	whole := pg.complete && r.hashed() && pg.first <= 1 && pg.last == pg.lines && len(pg.cut) == 0
	if rest := pg.rest(); rest != "" {
		out.Notes = append(out.Notes, rest)
	}
	out.Notes = append(out.Notes, pg.facts()...)
	if r.bad != nil && pg.bom {
		out.Notes = append(out.Notes, fmt.Sprintf("not valid %s at byte %d (line %d): what is not is shown as \uFFFD, and the file cannot be edited as text", r.bad.Encoding, r.bad.Offset, r.bad.Line))
	}
	version := r.version
	if !whole {
		version = version.Partial()
	}
	s.versioned(&out, version)
	s.learn(r.ctx, pg.view(p, r, whole))
	return out, nil
}

func (pg *page) view(p sandbox.Path, r *fileReader, whole bool) view {
	v := view{path: p, version: r.version, whole: whole, stamp: sandbox.StampOf(r.info), text: r.text, cut: pg.cut}
	if r.named {
		v.encoding = r.legacy.Name()
	}
	if pg.complete {
		v.lines = pg.lines
	}
	if pg.first > 0 {
		v.shown = spans{{pg.first, pg.last}}.without(pg.cut)
	}
	return v
}

// rest says how to see the lines that are not shown.
func (pg *page) rest() string {
	switch {
	case pg.lines == 0 || pg.first <= 1 && pg.complete && pg.last == pg.lines:
		return ""
	case !pg.complete:
		return fmt.Sprintf("Lines %d-%d; more follow. Continue with offset=%d.", pg.first, pg.last, pg.last+1)
	case pg.last == pg.lines:
		return fmt.Sprintf("Lines %d-%d of %d.", pg.first, pg.last, pg.lines)
	}
	return fmt.Sprintf("Lines %d-%d of %d. Continue with offset=%d.", pg.first, pg.last, pg.lines, pg.last+1)
}

// facts are what a model must know to edit rightly, where it is unusual.
func (pg *page) facts() []string {
	var out []string
	kinds := 0
	for _, n := range [...]int{pg.endings.LF, pg.endings.CRLF, pg.endings.CR} {
		if n > 0 {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		out = append(out, "mixed line endings")
	case pg.endings.CRLF > 0:
		out = append(out, "CRLF line endings")
	case pg.endings.CR > 0:
		out = append(out, "CR line endings")
	}
	switch {
	case pg.bom && pg.encoding == edit.UTF8:
		out = append(out, "UTF-8 with BOM")
	case pg.bom:
		out = append(out, "encoding: "+pg.encoding+" with BOM")
	case pg.encoding != edit.UTF8:
		out = append(out, "encoding: "+pg.encoding)
	}
	if pg.complete && pg.openEnd && pg.last == pg.lines {
		out = append(out, "no newline at end of file")
	}
	return out
}
