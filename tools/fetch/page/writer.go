package page

import "strings"

// A writer writes blocks of Markdown one below the other, each line with what stands
// in front of it: quotation marks, the indentation of a list.
type writer struct {
	b      strings.Builder
	prefix string // of every line
	marker string // stands in place of the end of prefix on the next line: "- "
	gap    gap    // to leave before the next line
	behind string // what stands in front of that gap's blank line: it belongs to the outer of two blocks
}

// A gap is what stands between two blocks.
type gap int

const (
	gapNone  gap = iota
	gapLine      // the next line
	gapBlank     // a blank line
)

// want leaves at least that gap before what comes next. At the beginning of the
// text, and right behind a marker, there is none.
func (w *writer) want(g gap) {
	if w.b.Len() == 0 || w.marker != "" {
		return
	}
	if w.gap == gapNone || len(w.prefix) < len(w.behind) {
		w.behind = w.prefix
	}
	w.gap = max(w.gap, g)
}

// tighten leaves no blank line before what comes next.
func (w *writer) tighten() { w.gap = min(w.gap, gapLine) }

// block writes lines as a block of their own.
func (w *writer) block(text string) {
	w.want(gapBlank)
	w.lines(text)
	w.want(gapBlank)
}

// lines writes text, whose lines are parted by "\n", after the gap.
func (w *writer) lines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		w.line(line)
		w.want(gapLine)
	}
}

func (w *writer) line(s string) {
	if w.gap == gapBlank {
		w.b.WriteString("\n" + strings.TrimRight(w.behind, " "))
	}
	if w.gap > gapNone {
		w.b.WriteByte('\n')
	}
	w.gap = gapNone
	start := w.prefix
	if w.marker != "" {
		start = w.prefix[:len(w.prefix)-len(w.marker)] + w.marker
		w.marker = ""
	}
	if s == "" {
		start = strings.TrimRight(start, " ")
	}
	w.b.WriteString(start)
	w.b.WriteString(s)
}

// maxPrefix is the length up to which blocks are set apart from those around them. It
// stands before every line, so that without a limit a page could grow many times over.
const maxPrefix = 60

// item runs f with what it writes indented behind a marker.
func (w *writer) item(marker string, f func()) {
	if len(w.prefix) > maxPrefix {
		f()
		return
	}
	outer, due := w.prefix, w.marker // of an item that begins with this one: both stand on one line
	w.prefix, w.marker = outer+strings.Repeat(" ", len(marker)), due+marker
	f()
	if w.marker != "" { // nothing was written
		w.marker = due
	}
	w.prefix = outer
}

// quote runs f with what it writes behind a mark on every line.
func (w *writer) quote(mark string, f func()) {
	if len(w.prefix) > maxPrefix {
		f()
		return
	}
	outer, due := w.prefix, w.marker
	w.prefix = outer + mark
	if due != "" {
		w.marker = due + mark
	}
	f()
	if w.marker != "" {
		w.marker = due
	}
	w.prefix = outer
}
