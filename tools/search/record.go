package search

import (
	"bytes"
	"slices"
)

// A recorder turns the matches in one file into lines of a report. It is fed
// window by window, each ending in a line break; offsets are into the present one.
type recorder struct {
	path     string
	q        *Query
	from, to int // which matching lines to keep, counted from 0 in this file

	matches int // matching lines so far
	lines   []Line
	binary  bool

	cursor  int    // what is in front is recorded, or no longer of interest
	line    int    // number of the line at the cursor, less one
	marked  int    // what is in front has been counted as matching or not
	after   int    // lines still to show behind the last match
	context []Line // the last lines before this window, for Before
}

// wants reports whether further matching lines are to be shown, not only counted.
func (r *recorder) wants() bool { return r.q.Mode == Content && r.matches < r.to }

// mark counts the lines of a hit and records them.
func (r *recorder) mark(text []byte, h hit) {
	for from := max(h.from, r.marked); from <= h.to; {
		_, to := lineAround(text, from)
		if r.wants() && r.matches >= r.from {
			r.match(text, from, to, h)
		}
		r.matches++
		r.marked = to + 1
		from = r.marked
	}
}

// markBinary counts all matches in a binary file as one.
func (r *recorder) markBinary() {
	if r.wants() && r.matches >= r.from {
		r.lines = append(r.lines, Line{Path: r.path, Binary: true})
	}
	r.matches++
	r.binary = true
}

func (r *recorder) match(text []byte, from, to int, h hit) {
	r.showAfter(text, from)
	if r.q.Before > 0 {
		r.lines = append(r.lines, r.lastLines(text, from)...)
	}
	r.line += bytes.Count(text[r.cursor:from], newline) + 1
	start, end := max(h.start, from)-from, min(h.end, to)-from
	r.lines = append(r.lines, Line{Path: r.path, Number: r.line, Text: cutLine(text[from:to], start, end, r.q.MaxLine)})
	r.cursor = to + 1
	r.after = r.q.After
	r.context = nil
}

// showAfter records the lines that follow the last match, up to the offset end.
func (r *recorder) showAfter(text []byte, end int) {
	for ; r.after > 0 && r.cursor < end; r.after-- {
		_, to := lineAround(text, r.cursor)
		r.line++
		r.lines = append(r.lines, r.contextLine(text[r.cursor:to], r.line))
		r.cursor = to + 1
	}
}

// lastLines is up to Before lines in front of the one at the offset end, the first
// of them perhaps from the window before.
func (r *recorder) lastLines(text []byte, end int) []Line {
	n := r.line + bytes.Count(text[r.cursor:end], newline)
	var out []Line
	for at := end; at > r.cursor && len(out) < r.q.Before; n-- {
		from, to := lineAround(text, at-1)
		out = append(out, r.contextLine(text[from:to], n))
		at = from
	}
	for i := len(r.context) - 1; i >= 0 && len(out) < r.q.Before; i-- {
		out = append(out, r.context[i])
	}
	slices.Reverse(out)
	return out
}

func (r *recorder) contextLine(text []byte, n int) Line {
	return Line{Path: r.path, Number: n, Text: cutLine(text, 0, 0, r.q.MaxLine), Context: true}
}

// endWindow takes leave of a window.
func (r *recorder) endWindow(text []byte) {
	r.showAfter(text, len(text))
	if r.wants() {
		if r.q.Before > 0 {
			r.context = r.lastLines(text, len(text))
		}
		r.line += bytes.Count(text[r.cursor:], newline)
	}
	r.cursor, r.marked = 0, 0
}

var newline = []byte("\n")
