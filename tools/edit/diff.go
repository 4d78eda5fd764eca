package edit

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A Hunk is a run of lines that changed, without context. Lines keep their
// endings. Numbers are those of a unified diff: 1-based, and where a side has no
// lines, the number of the line before.
type Hunk struct {
	OldStart, NewStart int
	Old, New           []string
}

// maxDiffLines is how many lines, both sides together, are compared one by one.
const maxDiffLines = 50_000

// Diff compares two texts line by line. Texts that differ in a great many lines
// are not compared to the last: the lines between the first and the last
// difference are then one hunk.
func Diff(old, new string) []Hunk {
	oldSep, newSep := separator(old), separator(new)
	if oldSep != newSep {
		return diffLines(nil, splitLines(old, oldSep), splitLines(new, newSep), 0, 0)
	}
	head, oldEnd, newEnd := trimCommon(old, new, oldSep)
	if head == oldEnd && head == newEnd {
		return nil
	}
	line := countByte(old[:head], oldSep)
	return diffLines(nil, splitLines(old[head:oldEnd], oldSep), splitLines(new[head:newEnd], oldSep), line, line)
}

// trimCommon finds the whole lines that old and new begin and end with.
func trimCommon(old, new string, sep byte) (head, oldEnd, newEnd int) {
	n := min(len(old), len(new))
	for head < n && old[head] == new[head] {
		head++
	}
	if head == len(old) && head == len(new) {
		return head, head, head
	}
	head = lineStart(old, head, sep)
	tail := 0
	for tail < n-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	// Only lines that are whole on both sides may go. The line at which the common
	// part begins is whole if both sides have an ending before it.
	oldEnd, newEnd = len(old)-tail, len(new)-tail
	if !startsLine(old, oldEnd, sep) || !startsLine(new, newEnd, sep) {
		skip := lineEnd(old, oldEnd, sep) - oldEnd
		oldEnd, newEnd = oldEnd+skip, newEnd+skip
	}
	return head, oldEnd, newEnd
}

func startsLine(s string, offset int, sep byte) bool {
	return offset == 0 || s[offset-1] == sep
}

// diffLines appends the hunks between two runs of lines that begin after line
// oldBase of the old text and newBase of the new one.
func diffLines(hunks []Hunk, old, new []string, oldBase, newBase int) []Hunk {
	diffs := []lcs.Diff{{Start: 0, End: len(old), ReplStart: 0, ReplEnd: len(new)}}
	if len(old)+len(new) <= maxDiffLines {
		diffs = lcs.DiffLines(old, new)
	}
	for _, d := range diffs {
		h := Hunk{
			OldStart: oldBase + d.Start + 1,
			NewStart: newBase + d.ReplStart + 1,
			Old:      old[d.Start:d.End],
			New:      new[d.ReplStart:d.ReplEnd],
		}
		if len(h.Old) == 0 {
			h.OldStart--
		}
		if len(h.New) == 0 {
			h.NewStart--
		}
		hunks = append(hunks, h)
	}
	return hunks
}

// Differing is the change from old to new, in which lines that stay are no part.
func Differing(old, new string) Result {
	sep := separator(old)
	starts := []int{0}
	for _, line := range splitLines(old, sep) {
		starts = append(starts, starts[len(starts)-1]+len(line))
	}
	var changes []Change
	for _, h := range Diff(old, new) {
		first := h.OldStart
		if len(h.Old) > 0 {
			first--
		}
		if first+len(h.Old) >= len(starts) { // the texts part their lines otherwise
			return NewResult(old, narrow(old, Change{0, len(old), new}))
		}
		changes = append(changes, narrow(old, Change{starts[first], starts[first+len(h.Old)], strings.Join(h.New, "")}))
	}
	if r := NewResult(old, changes...); r.Text() == new {
		return r
	}
	return NewResult(old, narrow(old, Change{0, len(old), new}))
}

// Hunks shows changes of text as whole lines. Changes must be ascending and not
// overlapping. What a change leaves as it was is no part of a hunk, and changes on
// the same line or on neighbouring ones are one.
func Hunks(text string, changes []Change) []Hunk {
	if len(changes) == 0 {
		return nil
	}
	sep := separator(text)
	if separatorAfter(text, changes) != sep {
		return Diff(text, NewResult(text, changes...).Text())
	}
	g := grouper{text: text, sep: sep, lines: lineCounter{text: text, sep: sep}}
	var hunks []Hunk
	for len(changes) > 0 {
		start, end, taken := g.group(changes)
		old := splitLines(text[start:end], sep)
		new := splitLines(g.rewritten(start, end, changes[:taken]), sep)
		oldBase := g.lines.at(start) - 1
		hunks = diffLines(hunks, old, new, oldBase, oldBase+g.shift)
		g.shift += len(new) - len(old)
		changes = changes[taken:]
	}
	return hunks
}

// A grouper gathers the changes that share lines.
type grouper struct {
	text  string
	sep   byte
	lines lineCounter
	shift int // lines that the groups so far have added
}

// group finds the lines, text[start:end], that the first changes touch, and how
// many changes that takes in. Afterwards these lines are whole lines again.
func (g *grouper) group(changes []Change) (start, end, taken int) {
	start = lineStart(g.text, changes[0].Start, g.sep)
	end = start
	at, last := start, g.sep // what is rewritten so far: up to where, and its last byte
	for taken < len(changes) {
		c := changes[taken]
		if taken > 0 && c.Start > end && strings.IndexByte(g.text[end:c.Start], g.sep) >= 0 {
			break // a line between them stays as it is
		}
		taken++
		if c.End >= end { // else its line is in already
			end = max(end, g.endOf(c))
		}
		switch {
		case c.New != "":
			last = c.New[len(c.New)-1]
		case c.Start > at:
			last = g.text[c.Start-1]
		}
		at = c.End
		// A change that takes away the end of its last line joins the next one to it.
		if at == end && last != g.sep {
			end = lineEnd(g.text, end, g.sep)
		}
	}
	return start, end, taken
}

// endOf is the end of the last line that c touches. What is put before a line
// touches it.
func (g *grouper) endOf(c Change) int {
	if c.End > c.Start && g.text[c.End-1] == g.sep {
		return c.End
	}
	return lineEnd(g.text, c.End, g.sep)
}

func (g *grouper) rewritten(start, end int, changes []Change) string {
	var out strings.Builder
	at := start
	for _, c := range changes {
		out.WriteString(g.text[at:c.Start])
		out.WriteString(c.New)
		at = c.End
	}
	out.WriteString(g.text[at:end])
	return out.String()
}

// separatorAfter is the separator of the changed text.
func separatorAfter(text string, changes []Change) byte {
	at, carriage := 0, false
	for i := 0; i <= len(changes); i++ {
		end, added := len(text), ""
		if i < len(changes) {
			end, added = changes[i].Start, changes[i].New
		}
		kept := text[at:end]
		if strings.IndexByte(kept, '\n') >= 0 || strings.IndexByte(added, '\n') >= 0 {
			return '\n'
		}
		carriage = carriage || strings.IndexByte(kept, '\r') >= 0 || strings.IndexByte(added, '\r') >= 0
		if i < len(changes) {
			at = changes[i].End
		}
	}
	if carriage {
		return '\r'
	}
	return '\n'
}
