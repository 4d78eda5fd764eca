package search

import (
	"fmt"
	"strings"
)

// A reporter puts the results of files together.
type reporter struct {
	q      *Query
	report Report
}

func newReporter(q *Query) *reporter {
	return &reporter{q: q, report: Report{Mode: q.Mode}}
}

// end is the number of matching lines or files behind which nothing is shown.
func (r *reporter) end() int { return r.q.Offset + r.q.Limit }

func (r *reporter) full() bool { return r.report.Total >= r.end() }

// found is the number of matching lines so far.
func (r *reporter) found() int { return r.report.Matches }

func (r *reporter) add(j *job) {
	res := &j.result
	r.report.LongLines += res.long
	if res.split {
		r.report.Split++
	}
	if res.unreadable {
		r.report.Unreadable++
	}
	if res.matches == 0 {
		return
	}
	r.report.Matches += res.matches
	if r.q.Mode == Content {
		r.addLines(j)
		return
	}
	if at := r.report.Total; at >= r.q.Offset && at < r.end() {
		r.report.Files = append(r.report.Files, FileCount{Path: j.path, Count: res.matches, Binary: res.binary})
		r.report.Shown++
	}
	r.report.Total++
}

func (r *reporter) addLines(j *job) {
	first := r.q.Offset - r.report.Total
	last := r.end() - r.report.Total
	for _, l := range window(j.result.lines, j.from, first, last, r.q) {
		if n := len(r.report.Lines); n > 0 && r.q.Before+r.q.After > 0 {
			prev := &r.report.Lines[n-1]
			l.Gap = prev.Path != l.Path || prev.Number+1 != l.Number
		}
		if !l.Context {
			r.report.Shown++
		}
		r.report.Lines = append(r.report.Lines, l)
	}
	r.report.Total += j.result.matches
}

// window keeps of the lines of a file the matching ones from first to last-1, with
// their context; the first of lines that matches has the number "at".
func window(lines []Line, at, first, last int, q *Query) []Line {
	keep := make([]bool, len(lines))
	whole := true
	for i := range lines {
		if lines[i].Context {
			continue
		}
		keep[i] = at >= first && at < last
		whole = whole && keep[i]
		at++
	}
	if whole {
		return lines
	}
	var out []Line
	for i, l := range lines {
		if !keep[i] && !near(lines, keep, i, q) {
			continue
		}
		if !keep[i] {
			l.Context = true
		}
		out = append(out, l)
	}
	return out
}

// near reports whether line i is context of one that is kept.
func near(lines []Line, keep []bool, i int, q *Query) bool {
	n := lines[i].Number
	if lines[i].Binary {
		return false
	}
	for k := i - 1; k >= 0 && n-lines[k].Number <= q.After; k-- {
		if keep[k] {
			return true
		}
	}
	for k := i + 1; k < len(lines) && !lines[k].Binary && lines[k].Number-n <= q.Before; k++ {
		if keep[k] {
			return true
		}
	}
	return false
}

func (r *reporter) finish(skipped Skipped, unreadable int, exact bool) Report {
	out := r.report
	out.Skipped.add(skipped)
	out.Unreadable += unreadable
	out.Exact = exact
	out.Rest = max(0, out.Total-min(r.q.Offset, out.Total)-out.Shown)
	return out
}

// Format writes a report as text: "path:line:text", for context "path-line-text",
// "--" between groups, "Binary file path matches"; paths, or "path:count". Names
// are made printable by [Show]. How much was not shown is not told; see [Report.More].
func Format(r Report) string {
	var b strings.Builder
	for _, l := range r.Lines {
		if l.Gap {
			b.WriteString("--\n")
		}
		formatLine(&b, l)
	}
	for _, f := range r.Files {
		switch {
		case r.Mode == FilesWithMatches:
			b.WriteString(Show(f.Path))
		case f.Binary:
			fmt.Fprintf(&b, "Binary file %s matches", Show(f.Path))
		default:
			fmt.Fprintf(&b, "%s:%d", Show(f.Path), f.Count)
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func formatLine(b *strings.Builder, l Line) {
	if l.Binary {
		fmt.Fprintf(b, "Binary file %s matches\n", Show(l.Path))
		return
	}
	sep := ':'
	if l.Context {
		sep = '-'
	}
	fmt.Fprintf(b, "%s%c%d%c%s\n", Show(l.Path), sep, l.Number, sep, l.Text)
}

// More says how many matches or files were found behind those shown; "" if none.
func (r Report) More() string {
	unit := "match"
	if r.Mode != Content {
		unit = "file"
	}
	plural := map[string]string{"match": "matches", "file": "files"}[unit]
	switch {
	case !r.Exact:
		return "... and more " + plural
	case r.Rest == 1:
		return "... and 1 more " + unit
	case r.Rest > 1:
		return fmt.Sprintf("... and %d more %s", r.Rest, plural)
	}
	return ""
}
