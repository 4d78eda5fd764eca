package pdf

import "strings"

// Page is the text of a page.
type Page struct {
	Text    string
	Cut     bool // the text is longer than was asked for
	Picture bool // the page has a picture
	Glyphs  int  // how many characters it draws, up to the cut
	Unknown int  // for how many of them the file does not tell which; in Text they are U+FFFD
}

// Text reads page n, from 1 to Pages, up to about most characters. With an
// error that ended the work early comes the text up to there.
func (f *File) Text(n, most int) (p Page, err error) {
	in := &interpreter{file: f, out: layout{max: most}}
	in.state = textState{ctm: identity, stretch: 1}
	in.tm, in.lm = identity, identity
	defer func() {
		p = in.found
		p.Text, p.Cut = in.out.text(), in.out.cut
	}()
	defer guard(&err)
	pg := f.pages[n-1]
	d := f.dict(pg.object)
	in.run(f.contents(d), f.dict(pg.resources))
	in.annotations(d)
	return p, nil
}

// contents joins the content streams of a page: an operator may even lie across
// two of them.
func (f *File) contents(d dict) []byte {
	var all []byte
	parts, ok := f.resolve(d["Contents"]).(array)
	if !ok {
		parts = array{d["Contents"]}
	}
	for _, part := range parts {
		s, ok := f.resolve(part).(stream)
		if !ok || len(all) > maxStream {
			continue
		}
		if data, err := f.decode(s); err == nil {
			all = append(append(all, data...), '\n')
		}
	}
	return all
}

// annotations draws what was put on a page later: the fields of a form that was
// filled in, and notes that are to be seen.
func (in *interpreter) annotations(d dict) {
	const hidden = 2
	f := in.file
	for _, v := range f.array(d["Annots"]) {
		annot := f.dict(v)
		if in.out.cut || f.int(annot["F"])&hidden != 0 {
			continue
		}
		normal := f.resolve(f.dict(annot["AP"])["N"])
		if states, ok := normal.(dict); ok {
			normal = f.resolve(states[f.name(annot["AS"])])
		}
		rect := f.array(annot["Rect"])
		if s, ok := normal.(stream); ok && len(rect) == 4 {
			in.state = textState{ctm: matrix{a: 1, d: 1, e: f.num(rect[0]), f: f.num(rect[1])}, stretch: 1}
			in.form(s, nil)
		}
	}
}

// Garbled says that most of the page cannot be read as text, for its fonts do
// not tell which characters they draw.
func (p Page) Garbled() bool { return p.Unknown*2 > p.Glyphs }

// Empty says that the page has no text.
func (p Page) Empty() bool { return strings.Trim(p.Text, "\ufffd \t\n") == "" }
