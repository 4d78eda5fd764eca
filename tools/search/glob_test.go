package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGlobMatches(t *testing.T) {
	for _, c := range []struct {
		reason, pattern, path string
		want                  bool
	}{
		{"** is also no folder", "**/*.go", "main.go", true},
		{"braces inside a component", "src/**/*.{ts,tsx}", "src/deep/c.tsx", true},
		{"a blank is no separator", "**/*slow cooking*.md", "notes/my slow cooking 1.md", true},
		{"a star stops at slashes", "*.go", "a/b.go", false},
		{"case counts", "*.md", "y.MD", false},
		{"? is one character, not one byte", "?.txt", "é.txt", true},
		{"a class never stands for a slash", "a[!x]b", "a/b", false},
		{"a range", "[a-c]1", "b1", true},
		{"an escaped star", `a\*b`, "a*b", true},
		{"an escaped star is no wildcard", `a\*b`, "axb", false},
		{"./ is normalised", "./a//b/./c", "a/b/c", true},
		{"a final slash means all below", "src/", "src/x/y", true},
		{"a final slash is not the name itself elsewhere", "src/", "lib/x", false},
		{"one empty alternative", "a{,.bak}", "a", true},
		{"the other alternative", "a{,.bak}", "a.bak", true},
		{"a slash in braces", "{a/b,c}/d", "a/b/d", true},
		{"** in the middle", "a/**/z", "a/z", true},
		{"** that touches text is a star", "a/**z", "a/x/z", false},
		{"braces in a class are characters", "[{]a", "{a", true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g, err := compileGlobs([]string{c.pattern}, wholePath)
			require.NoError(t, err)
			assert.Equal(t, c.want, g.matchPath(c.path, anyName), "%s on %s", c.pattern, c.path)
		})
	}
}

func TestGlobHiddenNames(t *testing.T) {
	for _, c := range []struct {
		reason, pattern, path string
		want                  bool
	}{
		{"a star does not show hidden files", "*", ".env", false},
		{"a spelled dot does", "**/.env*", "a/.env.local", true},
		{"a hidden folder that is named", ".github/**", ".github/workflows/ci.yml", true},
		{"one inside of it that is not", ".github/**", ".github/.cache/x", false},
		{"** does not enter hidden folders", "**/*.md", ".cache/a.md", false},
		{"naming one in braces does not open the others", "{.github/**,**/*.md}", "x/.github/a.md", false},
		{"a class is no spelled dot", "[.]env", ".env", false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g, err := compileGlobs([]string{c.pattern}, wholePath)
			require.NoError(t, err)
			assert.Equal(t, c.want, g.matchPath(c.path, visibleName))
		})
	}
}

func TestGlobRefused(t *testing.T) {
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []struct {
		reason, pattern, want string
		escapes               bool
	}{
		{"climbs", "../**", `".."`, true},
		{"climbs in braces", "{..,sub}/*", `".."`, true},
		{"climbs in the middle", "a/../../b", `".."`, true},
		{"climbs with escapes", `\.\./x`, `".."`, true},
		{"absolute", "/etc/*", "begin with /", true},
		{"absolute in braces", "{a,/etc}/*", "begin with /", true},
		{"open class", "a[b", "position 2", false},
		{"empty class", "a[]", "position 2", false},
		{"open brace", "{a,{b}", "position 1", false},
		{"stray brace", "a}", "position 2", false},
		{"final backslash", `a\`, "position 2", false},
		{"empty", "", "empty", false},
		{"NUL", "a\x00", "NUL", false},
		{"200 braces deep", strings.Repeat("{", 200) + "a" + strings.Repeat("}", 200), "nested", false},
		{"thousands of alternatives", "{" + strings.Join(many[:1100], ",") + "}", "", false},
		{"a product of alternatives", strings.Repeat("{a,b}", 40), "1024", false},
		{"too long", strings.Repeat("a", 5000), "4096", false},
		{"too many components", strings.Repeat("a*/", 70) + "b", "62", false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			began := time.Now()
			_, err := compileGlobs([]string{c.pattern}, wholePath)
			var bad *GlobError
			require.ErrorAs(t, err, &bad)
			assert.Contains(t, err.Error(), c.want)
			assert.Equal(t, c.escapes, assert.ObjectsAreEqual(ErrPatternEscapes, bad.Err))
			assert.Less(t, time.Since(began), time.Minute)
		})
	}
}

// randomGlob makes patterns of few characters, so that they often match.
func randomGlob(r *rand.Rand) string {
	parts := []string{"a", "b", "ab", ".", "*", "?", "**", "[ab]", "[!a]", "[a-c]", "{a,b}", "{a,*b}", "{ab,b/a}", `\*`, "é"}
	var comps []string
	for range 1 + r.IntN(4) {
		if r.IntN(4) == 0 {
			comps = append(comps, "**")
			continue
		}
		var b strings.Builder
		for range 1 + r.IntN(3) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		comps = append(comps, b.String())
	}
	return strings.Join(comps, "/")
}

func randomPath(r *rand.Rand) string {
	parts := []string{"a", "b", "ab", "c", ".a", "é", "aab", "b*"}
	var comps []string
	for range 1 + r.IntN(4) {
		name := parts[r.IntN(len(parts))]
		if r.IntN(3) == 0 {
			name += parts[r.IntN(len(parts))]
		}
		comps = append(comps, name)
	}
	return strings.Join(comps, "/")
}

// slowGlob is the oracle. doublestar lets a negated class stand for "/", takes only
// one final star or ** for nothing, and reads a star that a brace puts next to another
// differently; none of that is meant here. It does not see what it cannot judge.
func slowGlob(pattern, path string) (matched, comparable bool) {
	alts, _ := expandBraces(pattern)
	comparable = true
	for _, alt := range alts {
		for _, part := range strings.Split(alt, "/") {
			if part == "" || part == "." || part == ".." {
				return false, false
			}
		}
		alt = strings.NewReplacer("[!", "[!/", "[^", "[^/").Replace(alt)
		parts := slices.CompactFunc(strings.Split(alt, "/"), func(a, b string) bool { return a == "**" && b == "**" })
		for i, part := range parts { // one ** is as good as two, and a star as many
			for part != "**" && !strings.Contains(part, `\`) && strings.Contains(parts[i], "**") {
				parts[i] = strings.Replace(parts[i], "**", "*", 1)
			}
		}
		alt = strings.Join(parts, "/")
		ok, err := doublestar.Match(alt, path)
		if err != nil {
			return false, false
		}
		if head, final := strings.CutSuffix(alt, "/**"); final && !ok {
			ok, _ = doublestar.Match(head, path)
		}
		matched = matched || ok
	}
	return matched, comparable
}

func TestGlobAgreesWithDoublestar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	hits := 0
	for range 4000 {
		pattern := randomGlob(r)
		g, err := compileGlobs([]string{pattern}, wholePath)
		for range 10 {
			path := randomPath(r)
			want, ok := slowGlob(pattern, path)
			if !ok {
				continue
			}
			require.NoError(t, err, pattern)
			require.Equal(t, want, g.matchPath(path, anyName), "%q on %q", pattern, path)
			if want {
				hits++
			}
		}
	}
	require.Greater(t, hits, 1000)
}

// What below says decides where a walk goes: it must never cut off a match.
func TestGlobBelowNeverCutsOffAMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		g, err := compileGlobs([]string{randomGlob(r)}, wholePath)
		if err != nil {
			continue
		}
		path := randomPath(r)
		for _, mode := range []stepMode{anyName, visibleName} {
			if !g.matchPath(path, mode) {
				continue
			}
			states := g.start()
			parts := strings.Split(path, "/")
			for _, part := range parts[:len(parts)-1] {
				var below bool
				states, _, below = g.step(states, part, mode)
				require.True(t, below)
			}
			require.True(t, g.matches(states, parts[len(parts)-1], mode))
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, seed := range []string{"**/*.go", "{a,b}/[!c]*", `\{a`, "a/**/b/**", "{a,{b,c}}d", "[]a]", "a**b", "./x/", "[a-\\]]", "**\xff/[\xff]"} {
		f.Add(seed, "a/b/c")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := compileGlobs([]string{pattern}, wholePath)
		if (err == nil) && !doublestar.ValidatePattern(pattern) {
			t.Fatalf("%q is accepted", pattern)
		}
		if err != nil {
			return
		}
		for _, part := range strings.Split(path, "/") {
			if part == "" {
				return
			}
		}
		got := g.matchPath(path, anyName)
		if strings.ContainsAny(pattern, "[\\\xff\ufffd") || strings.HasSuffix(pattern, "/") || strings.ToValidUTF8(pattern+path, "") != pattern+path {
			return // where the oracle means something else
		}
		if want, ok := slowGlob(pattern, path); ok && want != got {
			t.Fatalf("%q on %q: got %v", pattern, path, got)
		}
	})
}
