package search

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"mcp-tools/tools/charset"
)

// splitLines is text as lines, without their ends.
func splitLines(text string) []string {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\r\n", "\n")
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// slowGrep is the oracle: the numbers of the lines that match, one by one, or
// for multiline those of all matches in the whole.
func slowGrep(re *regexp.Regexp, text string, multiline bool) []bool {
	lines := splitLines(text)
	hits := make([]bool, len(lines))
	if !multiline {
		for i, line := range lines {
			hits[i] = re.MatchString(line)
		}
		return hits
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\r\n", "\n")
	for _, loc := range re.FindAllStringIndex(text, -1) {
		from := strings.Count(text[:loc[0]], "\n")
		to := strings.Count(text[:max(loc[0], loc[1]-1)], "\n")
		for i := from; i <= to && i < len(lines); i++ {
			hits[i] = true
		}
	}
	return hits
}

// slowReport shows what the oracle found.
func slowReport(text string, hits []bool, before, after int) string {
	var out []string
	last := -1
	for i, line := range splitLines(text) {
		near := false
		for k := max(0, i-after); k <= min(len(hits)-1, i+before); k++ {
			near = near || hits[k]
		}
		if !near {
			continue
		}
		if last >= 0 && last != i-1 && before+after > 0 {
			out = append(out, "--")
		}
		last = i
		sep := "-"
		if hits[i] {
			sep = ":"
		}
		out = append(out, fmt.Sprintf("f%s%d%s%s", sep, i+1, sep, strings.ToValidUTF8(line, "\ufffd")))
	}
	return strings.Join(out, "\n")
}

// shownText is text as what it says, if it is in an older encoding.
func shownText(text string) string {
	legacy, ok := charset.Detect([]byte(text))
	if !ok {
		return text
	}
	shown, _ := io.ReadAll(legacy.NewLossyReader(strings.NewReader(text)))
	return string(shown)
}

// compareGrep searches text in windows of the given size and compares with the oracle.
func compareGrep(t *testing.T, q Query, text string, window int) (matched bool) {
	t.Helper()
	q = q.normal()
	q.Limit, q.MaxLine = 1<<30, 1<<30
	prog, err := compile(q)
	if err != nil {
		return false
	}
	expr := q.Pattern
	if q.FixedStrings {
		expr = regexp.QuoteMeta(expr)
	}
	if q.Multiline {
		expr = "(?m)" + expr
	}
	if q.IgnoreCase {
		expr = "(?i)" + expr
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return false
	}
	joinCRLF(tree) // the text searched has no "\r" before "\n" either
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return false
	}
	raw, text := text, shownText(text)
	hits := slowGrep(re, text, q.Multiline)
	scan := scanner{prog: prog, q: &q, src: source{buf: make([]byte, window)}}
	j := &job{path: "f", result: scan.scan(context.Background(), "f", strings.NewReader(raw), 0, q.Limit)}
	out := newReporter(&q)
	out.add(j)
	report := out.finish(Skipped{}, 0, true)
	want := slowReport(text, hits, q.Before, q.After)
	require.Equal(t, want, Format(report), "pattern %q, text %q, %+v", q.Pattern, raw, q)
	n := 0
	for _, hit := range hits {
		if hit {
			n++
		}
	}
	require.Equal(t, n, report.Total)
	return n > 0
}

func randomText(r *rand.Rand) string {
	// With the control character nothing is in an older encoding, however it is cut.
	parts := []string{"a", "b", "ab", "foo", "é", " ", "\n", "\n", "\r\n", "\r", "\xff\x01", "A", "_", "."}
	var b strings.Builder
	for range r.IntN(40) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func randomPattern(r *rand.Rand) string {
	parts := []string{"a", "b", "foo", ".", "é", "[^a]", "[ab]", "\\s", "\\S", "^", "$", "\\b", "(a|b)", "*", "+", "?", "|", "\\w", "\\n", "x?", "(?s).", "[^\\n]", "\\W", "\\A", "\\z", "{2}"}
	var b strings.Builder
	for range 1 + r.IntN(5) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func TestGrepAgreesWithOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	rounds, matched := 6000, 0
	if testing.Short() { // with the race detector, which makes the oracle ten times slower
		rounds = 600
	}
	for range rounds {
		q := Query{Pattern: randomPattern(r), IgnoreCase: r.IntN(4) == 0, Multiline: r.IntN(2) == 0, Before: r.IntN(3), After: r.IntN(3)}
		if r.IntN(8) == 0 {
			q.FixedStrings = true
		}
		if compareGrep(t, q, randomText(r), 8+r.IntN(60)) {
			matched++
		}
	}
	require.Greater(t, matched, rounds/6)
}

func FuzzGrep(f *testing.F) {
	f.Add("a+b", "x\naab\r\nb", byte(0), byte(1))
	f.Add("^[^W].*site", "alpha\n\nWWW: site\nbeta site\n", byte(4), byte(9))
	f.Add(`a\nx|y\nb`, "a\nx y\nb\n", byte(2), byte(200))
	f.Add("\r\n", "\n", byte(2+16), byte(200))
	f.Add("\r\n", "\n", byte(2+1), byte(200))
	f.Add(`foo$`, "foo\n\n\xff foo", byte(1), byte(0))
	f.Add(`\A\s*|b\z`, "\n\n b", byte(3), byte(3))
	f.Fuzz(func(t *testing.T, pattern, text string, flags, window byte) {
		if len(pattern) > 40 || len(text) > 400 || strings.ContainsAny(text, "\x00") || strings.ContainsRune(pattern, '\ufffd') {
			return
		}
		enc, mark := byteOrderMark([]byte(text))
		if enc != nil || mark > 0 && window < 3 {
			return
		}
		q := Query{Pattern: pattern, IgnoreCase: flags&1 != 0, Multiline: flags&2 != 0, FixedStrings: flags&16 != 0,
			Before: int(flags>>2) & 1, After: int(flags>>3) & 1}
		size := int(window) + 4
		if !utf8.ValidString(text) { // its encoding is told from the whole
			size = 1 << 10
		}
		compareGrep(t, q, text, size)
	})
}

// What is reported must not depend on the workers or on when they run.
func TestGrepIsDeterministic(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = strings.Repeat(randomText(r), 5)
	}
	root := tree(t, files)
	for _, q := range []Query{{Pattern: "a"}, {Pattern: "a", Offset: 37, Limit: 20, Before: 1, After: 2}, {Pattern: "a", Mode: Count, Limit: 5}, {Pattern: "foo", Mode: FilesWithMatches}} {
		var want Report
		for i, workers := range []int{1, 2, 5, 5} {
			got, err := grepper{workers: workers, after: never}.run(context.Background(), Scope{Root: open(t, root)}, q.normal())
			require.NoError(t, err)
			if i == 0 {
				want = got
			}
			require.Equal(t, want, got)
		}
	}
}

// Paging through must give the whole.
func TestGrepPages(t *testing.T) {
	root := tree(t, map[string]string{"a": strings.Repeat("hit\nx\n", 20), "b": "x\n", "c": strings.Repeat("hit\n", 9)})
	whole := grep(t, root, Query{Pattern: "hit"})
	var pages []Line
	for offset := 0; offset < whole.Total; offset += 7 {
		pages = append(pages, grep(t, root, Query{Pattern: "hit", Offset: offset, Limit: 7}).Lines...)
	}
	require.True(t, slices.Equal(whole.Lines, pages))
}

func FuzzCompilePattern(f *testing.F) {
	for _, seed := range []string{"(?=a)", `(a)\1`, "[a", "a{1001}", `\`, "(((", "[[:alpha:]", "(?<n>x)", `\Qa\E\n`} {
		f.Add(seed, byte(0))
	}
	f.Fuzz(func(t *testing.T, pattern string, flags byte) {
		if len(pattern) > 200 {
			return
		}
		_, err := compile(Query{Pattern: pattern, IgnoreCase: flags&1 != 0, Multiline: flags&2 != 0, Word: flags&4 != 0, FixedStrings: flags&8 != 0}.normal())
		if err != nil && err != ErrNewline {
			bad := err.(*PatternError)
			if bad.Offset >= len(pattern) && pattern != "" || bad.Reason == "" {
				t.Fatalf("%q: %v", pattern, bad)
			}
		}
	})
}
