package edit

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// source is n bytes of text that looks like a program.
func source(n int) string {
	var out strings.Builder
	for i := 0; out.Len() < n; i++ {
		fmt.Fprintf(&out, "\tif value_%d, err := load(\"name %d\"); err != nil { return it's - %d }\n", i, i, i%97)
	}
	return out.String()
}

func BenchmarkReplace10MB(b *testing.B) {
	text := source(10 << 20)
	middle := strings.Index(text, "value_70000")
	line := text[middle : middle+40]
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	curly := strings.ReplaceAll(text, "\"", "”")
	two := text[middle-50 : middle+100]
	benchmarks := []struct {
		name, text string
		r          Request
	}{
		{"exact", text, Request{Old: line, New: "other"}},
		{"exact with line breaks", text, Request{Old: two, New: two + "\nmore\n"}},
		{"line endings", crlf, Request{Old: two, New: two + "\nmore\n"}},
		{"quotes", curly, Request{Old: line, New: line + "x"}},
		{"miss", text, Request{Old: "  if value_70000, err := lood(\"name", New: "other"}},
		{"all", text, Request{Old: "err", New: "fault", All: true}},
	}
	for _, bb := range benchmarks {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.text)))
			for b.Loop() {
				Replace(bb.text, bb.r)
			}
		})
	}
}

func BenchmarkHunks10MB(b *testing.B) {
	text := source(10 << 20)
	middle := strings.Index(text, "value_70000")
	for b.Loop() {
		Hunks(text, []Change{{middle, middle + 3, "other"}})
	}
}

// TestTimeIsBounded runs what would take minutes with a search that compares
// every place, or an explanation that compares every line with every other.
func TestTimeIsBounded(t *testing.T) {
	const size = 1 << 20
	a := strings.Repeat("a", size)
	blanks := strings.Repeat("a b ", size/4)
	lines := strings.Repeat("abcd\n", size/5)
	text := source(size)
	tests := []struct {
		why  string
		text string
		r    Request
	}{
		{"a near miss everywhere", a, Request{Old: a[:size/4] + "b", New: "x"}},
		{"a match everywhere", a, Request{Old: a[:size/4], New: "x"}},
		{"a match everywhere, all", a, Request{Old: a[:size/4], New: "x", All: true}},
		{"a near miss everywhere, folded", blanks, Request{Old: blanks[:size/4] + "'", New: "x"}},
		{"nothing but foldable characters", strings.Repeat("' \" - ", size/6), Request{Old: strings.Repeat("' \" - ", size/60) + "”", New: "x"}},
		{"equal short lines", lines, Request{Old: lines[:size/4] + "abce\n", New: "abcd\n"}},
		{"new_string everywhere in one line", strings.Repeat("abcd", size/4), Request{Old: "abcde", New: "dabc"}},
		{"a large old_string", text, Request{Old: strings.ReplaceAll(text[:size/4], "\t", "  "), New: "x"}},
		{"a large old_string with quotes, found folded", strings.ReplaceAll(text, "'", "’"), Request{Old: text[:size/4], New: strings.ReplaceAll(text[:size/4], "load", "'read' \"it\"")}},
		{"quotes in one long line", strings.Repeat("’a", size/8), Request{Old: strings.Repeat("'a", size/8), New: strings.Repeat("\"b' ", size/8)}},
		{"every line replaced, mixed endings", "x\r\n" + lines, Request{Old: "\n", New: "\n\n", All: true}},
		{"many places in one line", strings.Repeat("ab", size/2), Request{Old: "a", New: "x", All: true}},
		{"many places in one line of a mixed file", "x\r\nx\n" + strings.Repeat("ab", size/2), Request{Old: "a", New: "x\ny", All: true}},
		{"every break taken away", lines, Request{Old: "\n", New: "", All: true}},
		{"a large deletion in one place of many", lines + "end", Request{Old: lines[5:] + "end", New: "abcd\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			begin := time.Now()
			res, err := Replace(tt.text, tt.r)
			if err != nil {
				_ = err.Error()
			}
			Render(Hunks(tt.text, res.Changes), 40)
			Render(Diff(tt.text, res.Text()), 40)
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("took %v", took)
			} else {
				t.Logf("took %v", took)
			}
		})
	}
}
