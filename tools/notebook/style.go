package notebook

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// writeSource is source as the value of "source" in o, a cell at or near
// index i: a string where it has a string, else a list of lines.
func (n *Notebook) writeSource(o *object, i int, source string) string {
	q := quoter{ascii: needsCare(source) && n.escapesAll()}
	old := ""
	if m := o.get("source"); m != nil {
		old = m.value
	}
	if strings.HasPrefix(old, `"`) {
		return q.quote(source)
	}
	lines := strings.SplitAfter(source, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return "[]"
	}
	spelled := spellings(old)
	gap := n.sourceSpacing(o, i)
	var out strings.Builder
	out.WriteString("[" + gap.open)
	for k, line := range lines {
		if k > 0 {
			out.WriteString("," + gap.next)
		}
		if same := spelled[line]; len(same) > 0 {
			out.WriteString(same[0])
			spelled[line] = same[1:]
			continue
		}
		out.WriteString(q.quote(line))
	}
	out.WriteString(gap.end + "]")
	return out.String()
}

// spellings are how the lines of a list are written, so that lines that stay are
// written as before: there is more than one way to spell most characters.
func spellings(list string) map[string][]string {
	out := make(map[string][]string)
	elements(list, all(list), func(line span) {
		raw := line.in(list)
		if raw[0] == '"' {
			s := unquote(raw)
			out[s] = append(out[s], raw)
		}
	})
	return out
}

// sourceSpacing is the white space of a list of source lines: that of the list that
// stands there, of the nearest cell that has one, or made from the indentation.
func (n *Notebook) sourceSpacing(o *object, i int) spacing {
	lead, colon := "", o.colon()
	if m := o.get("source"); m != nil {
		lead, colon = m.lead, m.colon
		if s, ok := spacingOf(m.value, all(m.value), colon); ok {
			return s
		}
	} else if len(o.members) > 0 {
		lead = o.members[0].lead
	}
	var near spacing
	found := n.nearest(i, func(c *cell) bool {
		s, ok := spacingOf(n.text, c.source, colon)
		near = s
		return ok && (hasBreak(lead) || !hasBreak(s.open))
	})
	if found >= 0 {
		return near
	}
	if !hasBreak(lead) {
		return spacing{next: nextGap("", colon)}
	}
	ending, indent := lastBreak(lead)
	deeper := ending + indent + n.unit()
	return spacing{open: deeper, next: deeper, end: ending + indent}
}

// nearest is the index of the cell nearest to index i that fits, -1 if none does. Of
// two as near, the one before.
func (n *Notebook) nearest(i int, fits func(*cell) bool) int {
	for d := range len(n.cells) + 1 {
		if k := i - d; k >= 0 && k < len(n.cells) && fits(&n.cells[k]) {
			return k
		}
		if k := i + d; d > 0 && k >= 0 && k < len(n.cells) && fits(&n.cells[k]) {
			return k
		}
	}
	return -1
}

// unit is one step of indentation.
func (n *Notebook) unit() string {
	top := parseObject(n.text, n.top)
	if lead := top.members[0].lead; hasBreak(lead) {
		_, indent := lastBreak(lead)
		return indent
	}
	for i := range n.cells {
		o := parseObject(n.text, n.cells[i].span)
		if len(o.members) == 0 || !hasBreak(o.members[0].lead) {
			continue
		}
		_, inner := lastBreak(o.members[0].lead)
		_, outer := lastBreak(n.leadOf(i))
		if unit, ok := strings.CutPrefix(inner, outer); ok {
			return unit
		}
	}
	return " "
}

// leadOf is the white space before a cell.
func (n *Notebook) leadOf(i int) string {
	start := n.cells[i].start
	return n.text[spaceBefore(n.text, start):start]
}

// A frame is the white space of a notebook that has no cell yet to go by.
type frame struct {
	list  spacing // of "cells"
	cell  spacing // of a cell
	colon string
}

// frame follows the outermost object.
func (n *Notebook) frame() frame {
	top := parseObject(n.text, n.top)
	first := top.members[0]
	f := frame{colon: first.colon}
	if !hasBreak(first.lead) {
		f.list = spacing{next: nextGap("", f.colon)}
		f.cell = f.list
		return f
	}
	ending, unit := lastBreak(first.lead)
	at := func(depth int) string { return ending + strings.Repeat(unit, depth) }
	f.list = spacing{open: at(2), next: at(2), end: at(1)}
	f.cell = spacing{open: at(3), next: at(3), end: at(2)}
	return f
}

// likeOld gives source the line endings of the text it replaces or stands next to:
// "\r\n" only where all lines there end so. Where they are mixed it stays as it is.
func likeOld(old, source string) string {
	lf, crlf := strings.Count(old, "\n"), strings.Count(old, "\r\n")
	if crlf > 0 && crlf < lf || strings.Contains(source, "\r\r\n") {
		return source // the first "\r" would make the "\n" a "\r\n" again
	}
	source = strings.ReplaceAll(source, "\r\n", "\n")
	if crlf > 0 {
		source = strings.ReplaceAll(source, "\n", "\r\n")
	}
	return source
}

// needsCare: there is something that a writer of pure ASCII would escape.
func needsCare(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x7f }) >= 0
}

// escapesAll: the file is written in pure ASCII, with escapes for all else. Without
// any such escape there is no telling, and UTF-8 is what Jupyter writes.
func (n *Notebook) escapesAll() bool {
	rest := n.text[n.top.start:] // a byte order mark says nothing
	for i := range len(rest) {
		if rest[i] >= utf8.RuneSelf {
			return false
		}
	}
	for {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
		if rest[0] == 'u' && rest[1:5] >= "0080" { // digits before letters, in any case
			return true
		}
		rest = rest[1:]
	}
}

// A quoter writes strings as Python's json and JavaScript's JSON do.
type quoter struct{ ascii bool }

func (q quoter) quote(s string) string {
	out := make([]byte, 0, len(s)+len(s)/16+2)
	out = append(out, '"')
	for _, r := range s {
		out = q.append(out, r)
	}
	return string(append(out, '"'))
}

func (q quoter) append(out []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(out, '\\', byte(r))
	case '\n':
		return append(out, `\n`...)
	case '\r':
		return append(out, `\r`...)
	case '\t':
		return append(out, `\t`...)
	case '\b':
		return append(out, `\b`...)
	case '\f':
		return append(out, `\f`...)
	}
	if r >= ' ' && (!q.ascii || r < 0x7f) {
		return utf8.AppendRune(out, r)
	}
	if a, b := utf16.EncodeRune(r); a != utf8.RuneError {
		return appendEscape(appendEscape(out, a), b)
	}
	return appendEscape(out, r)
}

func appendEscape(out []byte, r rune) []byte {
	digits := strconv.FormatInt(int64(r)|0x10000, 16)
	return append(append(out, `\u`...), digits[1:]...)
}
