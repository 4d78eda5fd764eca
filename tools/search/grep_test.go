package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// never is a clock whose time for counting does not end.
func never(time.Duration) <-chan time.Time { return nil }

// grep searches a folder with an endless time for counting.
func grep(t testing.TB, root string, q Query, change ...func(*Scope)) Report {
	t.Helper()
	s := Scope{Root: open(t, root)}
	for _, f := range change {
		f(&s)
	}
	report, err := grepper{workers: 3, after: never}.run(context.Background(), s, q.normal())
	require.NoError(t, err)
	return report
}

func TestGrepLines(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		q            Query
		want         string
	}{
		{"a literal", "one\ntwo\none two\n", Query{Pattern: "two"}, "f:2:two\nf:3:one two"},
		{"a pattern that begins with -", "x\n--dry-run\n", Query{Pattern: "--dry-run"}, "f:2:--dry-run"},
		{"no last line break", "a\nb", Query{Pattern: "b"}, "f:2:b"},
		{"no line behind the last line break", "a\n", Query{Pattern: "^$"}, ""},
		{"an empty last line is a line", "a\n\n", Query{Pattern: "^$"}, "f:2:"},
		{"an empty file has no lines", "", Query{Pattern: ""}, ""},
		{"the empty pattern matches every line", "a\n\nb\n", Query{Pattern: ""}, "f:1:a\nf:2:\nf:3:b"},
		{"a negated class stops at the line end", "alpha\n\nWWW: site\nbeta site\n", Query{Pattern: "^[^W].*site"}, "f:4:beta site"},
		{"\\s stops at the line end", "a\nb\n", Query{Pattern: `a\s`}, ""},
		{"(?s). stops at the line end", "a\nb\n", Query{Pattern: `(?s)a.b|b`}, "f:2:b"},
		{"\\A is the line", "a\nb\n", Query{Pattern: `\Ab\z`}, "f:2:b"},
		{"$ in front of CRLF, which is not shown", "a b\r\nc\r\n", Query{Pattern: "b$"}, "f:1:a b"},
		{"a dot is not the carriage return", "ab\r\n", Query{Pattern: "ab."}, ""},
		{"a carriage return inside stays", "a\rb\n", Query{Pattern: "a.b"}, "f:1:a\rb"},
		{"a UTF-8 mark is not part of line 1", "\xef\xbb\xbfabc\n", Query{Pattern: "^abc"}, "f:1:abc"},
		{"fixed strings", "a+b\naab\n", Query{Pattern: "a+b", FixedStrings: true}, "f:1:a+b"},
		{"fixed strings, any case", "A+b\naab\n", Query{Pattern: "a+B", FixedStrings: true, IgnoreCase: true}, "f:1:A+b"},
		{"ignoring case beyond ASCII", "ÉTÉ\n", Query{Pattern: "été", IgnoreCase: true}, "f:1:ÉTÉ"},
		{"words", "cat\nconcat\ncat_1\na cat.\n", Query{Pattern: "cat", Word: true}, "f:1:cat\nf:4:a cat."},
		{"a later place in the line is tried for words", "concat cat\n", Query{Pattern: "cat", Word: true}, "f:1:concat cat"},
		{"another alternative is tried for words", "foobar\n", Query{Pattern: "foo|foobar", Word: true}, "f:1:foobar"},
		{"words in other scripts", "наука\nна стол\n", Query{Pattern: "на", Word: true}, "f:2:на стол"},
		{"bytes of no encoding are shown as such", "ab\xff\xfe x\n", Query{Pattern: "ab"}, "f:1:ab\ufffd x"},
		{"an older encoding is searched as text", "caf\xe9 x\n", Query{Pattern: "café"}, "f:1:café x"},
		{"counts", "a\nb\na\n", Query{Pattern: "a", Mode: Count}, "f:2"},
		{"paths", "a\nb\na\n", Query{Pattern: "a", Mode: FilesWithMatches}, "f"},
		{"groups and alternatives", "foobar\nfoobaz 12345\n", Query{Pattern: `foo(bar|baz)|\d{9}`}, "f:1:foobar\nf:2:foobaz 12345"},
		{"a line that matches twice is one", "aa a\n", Query{Pattern: "a"}, "f:1:aa a"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			report := grep(t, tree(t, map[string]string{"f": c.text}), c.q)
			assert.Equal(t, c.want, Format(report))
			assert.True(t, report.Exact)
		})
	}
}

func TestGrepMultiline(t *testing.T) {
	for _, c := range []struct {
		reason, text, pattern, want string
	}{
		{"all lines of a match", "x\naa1\nbb2\ny\n", `aa1\nbb2`, "f:2:aa1\nf:3:bb2"},
		{"a line break at the end adds no line", "a\nb\n", `a\n`, "f:1:a"},
		{"a dot still stops", "a\nb\n", `a.b`, ""},
		{"unless told otherwise", "a\nb\n", `(?s)a.b`, "f:1:a\nf:2:b"},
		{"a negated class goes on", "a\nb\n", `a[^x]b`, "f:1:a\nf:2:b"},
		{"the next match begins in the last line of the one before", "a\nx y\nb\n", `a\nx|y\nb`, "f:1:a\nf:2:x y\nf:3:b"},
		{"^ is not true in the middle of a line", "a\nbb\nc\n", `a\nb|^b\nc`, "f:1:a\nf:2:bb"},
		{"line breaks are the same in a file with CRLF", "a\r\nb\r\n", `a\nb`, "f:1:a\nf:2:b"},
		{"and may be written in full", "a\r\nb\r\n", `a\r\nb`, "f:1:a\nf:2:b"},
		{"no line behind the last line break", "a\n", `(?m)^\s*$`, ""},
		{"\\A is the file", "b\nb\n", `\Ab`, "f:1:b"},
		{"\\z is the file", "b\nc\n", `c\n\z`, "f:2:c"},
		{"empty matches", "ab\n\nc\n", `\n*`, "f:1:ab\nf:2:\nf:3:c"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			root := tree(t, map[string]string{"f": c.text})
			assert.Equal(t, c.want, Format(grep(t, root, Query{Pattern: c.pattern, Multiline: true})))
		})
	}
}

func TestGrepContext(t *testing.T) {
	text := "1\n2\nhit 3\n4\n5\n6\n7\nhit 8\nhit 9\n10\n"
	for _, c := range []struct {
		reason string
		q      Query
		want   string
	}{
		{"before", Query{Before: 1}, "f-2-2\nf:3:hit 3\n--\nf-7-7\nf:8:hit 8\nf:9:hit 9"},
		{"after", Query{After: 1}, "f:3:hit 3\nf-4-4\n--\nf:8:hit 8\nf:9:hit 9\nf-10-10"},
		{"groups that touch are one", Query{Before: 2, After: 2}, "f-1-1\nf-2-2\nf:3:hit 3\nf-4-4\nf-5-5\nf-6-6\nf-7-7\nf:8:hit 8\nf:9:hit 9\nf-10-10"},
		{"beyond the file", Query{Before: 9, After: 9}, "f-1-1\nf-2-2\nf:3:hit 3\nf-4-4\nf-5-5\nf-6-6\nf-7-7\nf:8:hit 8\nf:9:hit 9\nf-10-10"},
		{"a match behind the limit is context", Query{After: 1, Limit: 2}, "f:3:hit 3\nf-4-4\n--\nf:8:hit 8\nf-9-hit 9"},
		{"one in front of the offset too", Query{Before: 1, Offset: 2}, "f-8-hit 8\nf:9:hit 9"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			c.q.Pattern = "hit"
			report := grep(t, tree(t, map[string]string{"f": text}), c.q)
			assert.Equal(t, c.want, Format(report))
			assert.Equal(t, 3, report.Total)
		})
	}
	t.Run("groups of several files", func(t *testing.T) {
		root := tree(t, map[string]string{"a": "hit\n", "b": "x\nhit\n"})
		assert.Equal(t, "a:1:hit\n--\nb-1-x\nb:2:hit", Format(grep(t, root, Query{Pattern: "hit", Before: 1})))
	})
}

func TestGrepLimits(t *testing.T) {
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprintf("d%d/f", i)] = strings.Repeat("hit\nmiss\n", 30)
	}
	root := tree(t, files)
	report := grep(t, root, Query{Pattern: "hit"})
	assert.Equal(t, 100, report.Shown)
	assert.Equal(t, 300, report.Total)
	assert.Equal(t, "... and 200 more matches", report.More())
	last := report.Lines[99]
	assert.Equal(t, Line{Path: "d3/f", Number: 19, Text: "hit"}, last)

	next := grep(t, root, Query{Pattern: "hit", Offset: 100, Limit: 1})
	assert.Equal(t, Line{Path: "d3/f", Number: 21, Text: "hit"}, next.Lines[0])
	assert.Equal(t, 199, next.Rest)

	far := grep(t, root, Query{Pattern: "hit", Offset: 299, Limit: windowed + 1})
	assert.Equal(t, []Line{{Path: "d9/f", Number: 59, Text: "hit"}}, far.Lines)
	assert.Equal(t, "", far.More())

	beyond := grep(t, root, Query{Pattern: "hit", Offset: 1000})
	assert.Empty(t, beyond.Lines)
	assert.Equal(t, 0, beyond.Rest)

	few := grep(t, root, Query{Pattern: "hit", Mode: FilesWithMatches, Limit: 9, Offset: 0})
	assert.Len(t, few.Files, 9)
	assert.Equal(t, "... and 1 more file", few.More())
	counts := grep(t, root, Query{Pattern: "hit", Mode: Count, Limit: 2, Offset: 3})
	assert.Equal(t, []FileCount{{Path: "d3/f", Count: 30}, {Path: "d4/f", Count: 30}}, counts.Files)
	assert.Equal(t, 300, counts.Matches)
}

func TestGrepStopsCountingWhenTheTimeIsOver(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("f%03d", i)] = "hit\n"
	}
	s := Scope{Root: open(t, tree(t, files))}
	var asked []time.Duration
	expired := func(d time.Duration) <-chan time.Time {
		asked = append(asked, d)
		c := make(chan time.Time)
		close(c)
		return c
	}
	report, err := grepper{workers: 2, after: expired}.run(context.Background(), s, Query{Pattern: "hit", Limit: 3}.normal())
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{countingTime}, asked)
	assert.False(t, report.Exact)
	assert.Equal(t, "f000:1:hit\nf001:1:hit\nf002:1:hit", Format(report))
	assert.Equal(t, "... and more matches", report.More())
}

func TestGrepBinary(t *testing.T) {
	root := tree(t, map[string]string{
		"a.txt":     "needle\n",
		"lib.so":    "\x7fELF\x00needle\x00needle",
		"late.dat":  "needle 1\n" + strings.Repeat("x\n", sniffSize) + "\x00\nneedle 2\nneedle 3\n",
		"quiet.dat": "needle 1\n" + strings.Repeat("x\n", sniffSize) + "\x00\n",
	})
	assert.Equal(t, "a.txt:1:needle\nlate.dat:1:needle 1\nBinary file late.dat matches\nBinary file lib.so matches\nquiet.dat:1:needle 1",
		Format(grep(t, root, Query{Pattern: "needle"})))
	assert.Equal(t, "a.txt:1\nBinary file late.dat matches\nBinary file lib.so matches\nquiet.dat:1",
		Format(grep(t, root, Query{Pattern: "needle", Mode: Count})))
	assert.Equal(t, "a.txt\nlate.dat\nlib.so\nquiet.dat", Format(grep(t, root, Query{Pattern: "needle", Mode: FilesWithMatches})))
}

func TestGrepDecodesByMark(t *testing.T) {
	utf16le := "\xff\xfeh\x00\xe9\x00\n\x00x\x00\r\x00\n\x00"
	utf32be := "\x00\x00\xfe\xff\x00\x00\x00h\x00\x00\x00\xe9"
	root := tree(t, map[string]string{"le": utf16le, "be32": utf32be})
	assert.Equal(t, "be32:1:hé\nle:1:hé", Format(grep(t, root, Query{Pattern: "^hé$"})))
	assert.Equal(t, "le:2:x", Format(grep(t, root, Query{Pattern: "x$"})))
}

func TestGrepSparseFileIsNotReadWhole(t *testing.T) {
	root := tree(t, map[string]string{"a": "needle\n"})
	f, err := os.Create(filepath.Join(root, "huge"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(10<<30))
	require.NoError(t, f.Close())
	began := time.Now()
	assert.Equal(t, "a:1:needle", Format(grep(t, root, Query{Pattern: "needle"})))
	assert.Less(t, time.Since(began), time.Minute)
}

func TestGrepLongLines(t *testing.T) {
	line := strings.Repeat("a;", 75000) + "needle42" + strings.Repeat("é;", 75000)
	root := tree(t, map[string]string{"m.js": line, "n.js": "x\n" + strings.Repeat("z", 3*windowSize) + "\nneedle42\n"})
	report := grep(t, root, Query{Pattern: "needle42"})
	require.Len(t, report.Lines, 2)
	text := report.Lines[0].Text
	assert.Regexp(t, `^\[\+149754 chars\] … ;?(a;)+needle42(é;)+é? … \[\+149754 chars\]$`, text)
	assert.Equal(t, "needle42", report.Lines[1].Text)
	assert.Equal(t, 3, report.Lines[1].Number)
}

func TestCutLine(t *testing.T) {
	for _, c := range []struct {
		reason, line, match string
		want                string
	}{
		{"short enough", "abc", "b", "abc"},
		{"short in characters", "éééééééééé", "é", "éééééééééé"},
		{"a match in front", "needle" + strings.Repeat("x", 20), "needle", "needlexxxx … [+16 chars]"},
		{"a match in the middle", strings.Repeat("x", 20) + "needle" + strings.Repeat("y", 20), "needle", "[+18 chars] … xxneedleyy … [+18 chars]"},
		{"a match at the end", strings.Repeat("x", 20) + "needle", "needle", "[+16 chars] … xxxxneedle"},
		{"a match that is too long", "x" + strings.Repeat("n", 30), strings.Repeat("n", 30), "xnnnnnnnnn … [+21 chars]"},
		{"invalid bytes count as characters", strings.Repeat("\xff\x80", 10), "\xff", "\ufffd … [+10 chars]"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			start := strings.Index(c.line, c.match)
			assert.Equal(t, c.want, cutLine([]byte(c.line), start, start+len(c.match), 10))
		})
	}
}

func TestGrepPatternErrors(t *testing.T) {
	for _, c := range []struct {
		pattern, reason string
		offset          int
		hint            string
	}{
		{"(", "without its )", 0, `\(`},
		{"a(b(c)", "without its )", 1, `\(`},
		{"ab)", "without its (", 2, `\)`},
		{"x[a", "without its ]", 1, `\[`},
		{"x(?=a)", "look-ahead", 1, "filter"},
		{"x(?!a)", "look-ahead", 1, "leave out"},
		{"(?<=a)b", "look-behind", 0, "in front"},
		{"(?<!a)b", "look-behind", 0, "word"},
		{`(a)\1`, `back-reference \1`, 3, "alternatives"},
		{`[\1](a)\2`, `invalid escape`, 1, ""},
		{"a++", "possessive", 1, "linear"},
		{"*a", "missing argument", 0, "fixed_strings"},
		{`a\`, "trailing backslash", 1, `\\`},
		{"a{2000}", "repeat count", 1, "1000"},
		{`\p{Foo}`, `character class range`, 0, ""},
		{"\xff", "UTF-8", -1, ""},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			_, err := compile(Query{Pattern: c.pattern}.normal())
			var bad *PatternError
			require.ErrorAs(t, err, &bad)
			assert.Contains(t, bad.Reason, c.reason)
			assert.Equal(t, c.offset, bad.Offset)
			assert.Contains(t, bad.Hint, c.hint)
		})
	}
}

func TestGrepLineBreakInPattern(t *testing.T) {
	for _, c := range []struct {
		pattern string
		fixed   bool
		refused bool
	}{
		{`a\nb`, false, true}, {"a\nb", false, true}, {`a|\n`, false, true}, {`\x0a`, false, true},
		{`[^\n]*`, false, false}, {`a[\n\t]b`, false, false}, {`a\nb`, true, false}, {"a\nb", true, true}, {`\\n`, false, false},
	} {
		_, err := compile(Query{Pattern: c.pattern, FixedStrings: c.fixed}.normal())
		assert.Equal(t, c.refused, errors.Is(err, ErrNewline), "%q", c.pattern)
	}
}

func TestGrepScope(t *testing.T) {
	root := tree(t, map[string]string{
		"a.ts": "needle\n", "src/b.tsx": "needle\n", "src/c.go": "needle\n", "src/deep/d.go": "needle\n", "README.md": "needle\n",
		"link.go": "->src/c.go", "loop": "->.",
	})
	find := func(change func(*Scope)) string {
		return Format(grep(t, root, Query{Pattern: "needle", Mode: FilesWithMatches}, change))
	}
	assert.Equal(t, "a.ts\nsrc/b.tsx", find(func(s *Scope) { s.Include = []string{"*.{ts,tsx}"} }))
	assert.Equal(t, "src/c.go", find(func(s *Scope) { s.Base = "src/c.go" }))
	assert.Equal(t, "src/c.go", find(func(s *Scope) { s.Base = "src/c.go"; s.Include = []string{"*.md"} }))
	assert.Equal(t, "README.md\na.ts\nsrc/b.tsx", find(func(s *Scope) { s.Exclude = []string{"*.go"} }))
	assert.Equal(t, "src/deep/d.go", find(func(s *Scope) { s.Base = "src"; s.Include = []string{"deep/*.go"} }))
	assert.Equal(t, "README.md\na.ts", find(func(s *Scope) { s.Include = []string{"!src/"} }))
}

func TestGrepUnreadableIsCounted(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read everything")
	}
	root := tree(t, map[string]string{"ok/n.txt": "marker\n", "shut/m.txt": "marker\n", "f": "marker\n"})
	require.NoError(t, os.Chmod(filepath.Join(root, "shut"), 0))
	require.NoError(t, os.Chmod(filepath.Join(root, "f"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "shut"), 0o755) })
	report := grep(t, root, Query{Pattern: "marker"})
	assert.Equal(t, "ok/n.txt:1:marker", Format(report))
	assert.Equal(t, 2, report.Unreadable)
}

func TestGrepObeysCancellation(t *testing.T) {
	s := Scope{Root: open(t, tree(t, map[string]string{"big": strings.Repeat("a", 12<<20)}))}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	_, err := Grep(ctx, s, Query{Pattern: "(a?){50}b"})
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, time.Since(began), time.Minute)

	// And when it is within one long line already.
	ctx, cancel = context.WithCancel(context.Background())
	prog, err := compile(Query{Pattern: "(a?b?){20}c"}.normal())
	require.NoError(t, err)
	reader := &patientReader{ctx: ctx, text: make([]byte, 1<<30)}
	reader.n = 1 << 20
	cancel()
	assert.Nil(t, prog.re.FindReaderIndex(reader))
	assert.Less(t, reader.n, 2<<20)
}
