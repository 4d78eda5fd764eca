package notebook

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	defaultChars       = 50_000
	leastChars         = 1_000
	defaultOutputLines = 100
	defaultOutputChars = 10_000
	// spare is room for the words about what is left out of a cell.
	spare = 200
)

// ShowOptions say what to show. A zero stands for what is usual.
type ShowOptions struct {
	Offset      int // index of the first cell; -2: the last two
	Limit       int // cells at most; 0: as many as fit
	MaxChars    int // characters of the page, 50,000; 1,000 at least
	OutputLines int // lines of one output, 100
	OutputChars int // characters of one output, 10,000
}

// Shown is a page of a notebook.
type Shown struct {
	Text        string
	Images      []Image // in the order of the lines that name them, at most [MaxImages]
	First, Last int     // indexes of the cells shown; Last is before First when there is none
	Total       int     // cells of the notebook
	Next        int     // the cell to go on with; -1: none is left
	Cut         []int   // cells whose source is not all there
	Note        string  // what a reader must know about the rest; "" where the page is the whole
}

// Show is a page of the notebook as text for a model: for each cell a line that names
// it, its source exactly, and what it has put out. Whole cells are shown, as many as
// fit; only one that alone is larger than a page is cut. Text ends without a line
// break.
func (n *Notebook) Show(o ShowOptions) Shown {
	o = o.filled(len(n.cells))
	p := &pager{n: n, o: o}
	p.shown = Shown{First: o.Offset, Last: o.Offset - 1, Total: len(n.cells), Next: -1}
	for i := o.Offset; i < len(n.cells); i++ {
		if i-o.Offset == o.Limit || !p.add(i) {
			p.shown.Next = i
			break
		}
		p.shown.Last = i
	}
	p.shown.Text = strings.TrimSuffix(p.text.String(), "\n")
	if len(n.cells) == 0 {
		p.shown.Text = "(the notebook has no cells)"
	}
	p.shown.Note = p.shown.note()
	return p.shown
}

func (o ShowOptions) filled(cells int) ShowOptions {
	fill := func(v *int, usual int) {
		if *v <= 0 {
			*v = usual
		}
	}
	fill(&o.MaxChars, defaultChars)
	fill(&o.OutputLines, defaultOutputLines)
	fill(&o.OutputChars, defaultOutputChars)
	fill(&o.Limit, cells+1)
	o.MaxChars = max(o.MaxChars, leastChars)
	if o.Offset < 0 {
		o.Offset = max(0, cells+max(o.Offset, -cells))
	}
	return o
}

func (s *Shown) note() string {
	switch {
	case s.Total > 0 && s.First >= s.Total:
		return fmt.Sprintf("There is no cell-%d: the notebook has %d cells.", s.First, s.Total)
	case s.Next >= 0:
		return fmt.Sprintf("Cells %d-%d of %d (from 0). Continue with offset=%d.", s.First, s.Last, s.Total, s.Next)
	case s.First > 0:
		return fmt.Sprintf("Cells %d-%d of %d (from 0).", s.First, s.Last, s.Total)
	}
	return ""
}

// A pager fills a page.
type pager struct {
	n     *Notebook
	o     ShowOptions
	text  strings.Builder
	chars int // in text
	shown Shown
}

// add shows a cell, if there is room for all of it. The first cell is always shown.
func (p *pager) add(i int) bool {
	first := i == p.o.Offset
	v := &view{
		n: p.n, c: &p.n.cells[i], o: p.o, index: i,
		room: p.o.MaxChars - p.chars - 1, cutting: first,
		imagesBefore: len(p.shown.Images),
	}
	if first {
		v.room = p.o.MaxChars - spare
	}
	v.render()
	if v.full && !first {
		return false
	}
	if !first {
		p.text.WriteByte('\n')
		p.chars++
	}
	p.text.WriteString(v.text.String())
	p.chars += v.chars
	p.shown.Images = append(p.shown.Images, v.images...)
	if v.sourceCut {
		p.shown.Cut = append(p.shown.Cut, i)
	}
	return true
}

// A view is a cell as text.
type view struct {
	n     *Notebook
	c     *cell
	o     ShowOptions
	index int

	room    int  // characters, apart from what force adds
	cutting bool // what does not fit is cut; else the view is given up
	full    bool // something did not fit

	text      strings.Builder
	chars     int
	sourceCut bool

	images       []Image
	imagesBefore int // on the page
}

// write adds lines. When they don't fit it adds nothing and returns false.
func (v *view) write(lines string) bool {
	lines = endLine(lines)
	n := utf8.RuneCountInString(lines)
	if v.chars+n > v.room {
		v.full = true
		return false
	}
	v.text.WriteString(lines)
	v.chars += n
	return true
}

// writeForms is write for lines that name images since the view had so many: what is
// not named is not shown.
func (v *view) writeForms(lines string, images int) bool {
	ok := v.write(lines)
	if !ok {
		v.images = v.images[:images]
	}
	return ok
}

// force adds lines for which there is always room, see spare.
func (v *view) force(lines string) {
	lines = endLine(lines)
	v.text.WriteString(lines)
	v.chars += utf8.RuneCountInString(lines)
}

func (v *view) render() {
	if v.write(v.header()) && v.source() && v.attachments() {
		v.outputs()
	}
}

// header is "[cell-2 id=ab12cd34 code In[3]]".
func (v *view) header() string {
	c := v.c
	var out strings.Builder
	fmt.Fprintf(&out, "[cell-%d", v.index)
	if c.id != "" {
		out.WriteString(" id=" + shownID(c.id))
	}
	switch {
	case v.n.text[c.start] != '{':
		return out.String() + ": no object in the JSON of the notebook]"
	case c.kind == "":
		out.WriteString(" without cell_type")
	default:
		out.WriteString(" " + plainOrQuoted(c.kind, 64))
	}
	if n := number(c.count.in(v.n.text)); n > 0 {
		fmt.Fprintf(&out, " In[%d]", n)
	}
	return out.String() + "]"
}

func (v *view) source() bool {
	source := strings.ReplaceAll(textOf(v.n.text, v.c.source), "\r\n", "\n")
	if v.write(source) || !v.cutting {
		return !v.full
	}
	short, _ := cut(source, len(source)+2, v.room-v.chars)
	v.force(short)
	v.sourceCut = true
	return true
}

// attachments are pictures pasted into a text.
func (v *view) attachments() bool {
	count, shown := 0, 0
	fields(v.n.text, v.c.attachments, func(f field) {
		prefix := "[attachment " + plainOrQuoted(f.name, 64) + ": "
		fields(v.n.text, f.value, func(in field) {
			count++
			if before := len(v.images); count == shown+1 && count <= maxTypes && v.writeForms(prefix+v.form(in.name, in.value)+"]", before) {
				shown++
			}
		})
	})
	if count > shown {
		v.full = true
		v.force(fmt.Sprintf("[%d more attachments not shown]", count-shown))
	}
	return v.cutting || !v.full
}
