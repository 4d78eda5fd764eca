package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIgnoreRules(t *testing.T) {
	for _, c := range []struct {
		reason, rules, path string
		dir, want           bool
	}{
		{"a name at any depth", "local.md", "a/b/local.md", false, true},
		{"a final slash is for folders", "dist/", "dist", false, false},
		{"a final slash and a folder", "dist/", "a/dist", true, true},
		{"a leading slash anchors", "/a.txt", "b/a.txt", false, false},
		{"a slash inside anchors", "b/a.txt", "c/b/a.txt", false, false},
		{"the last rule wins", "*.log\n!keep.log", "keep.log", false, false},
		{"and the other way round", "!keep.log\n*.log", "keep.log", false, true},
		{"a comment", "#a", "#a", false, false},
		{"an escaped comment sign", `\#a`, "#a", false, true},
		{"an escaped exclamation mark", `\!a`, "!a", false, true},
		{"trailing spaces go", "a.txt   ", "a.txt", false, true},
		{"an escaped trailing space stays", `a\ `, "a ", false, true},
		{"a trailing tab stays", "a\t", "a", false, false},
		{"CRLF line ends", "a.txt\r\nb.txt\r\n", "a.txt", false, true},
		{"a byte order mark", "\xef\xbb\xbfa.txt", "a.txt", false, true},
		{"** in front", "**/foo/bar", "x/foo/bar", false, true},
		{"** at the end is what is inside", "foo/**", "foo", true, false},
		{"** at the end, inside", "foo/**", "foo/x/y", false, true},
		{"** in the middle is also nothing", "a/**/b", "a/b", false, true},
		{"a star stops at a slash", "a/*", "a/b/c", false, false},
		{"a class", "*.[oa]", "x.o", false, true},
		{"a class negated by !", "x[!0-9]", "x5", false, false},
		{"a class by its POSIX name", "x[[:digit:]]", "x5", false, true},
		{"an unknown class matches nothing", "x[[:foo:]]", "x5", false, false},
		{"an open class matches nothing", "x[5", "x5", false, false},
		{"a final backslash matches nothing", `x\`, "x", false, false},
		{"the empty rule", "/", "x", true, false},
		{"only a !", "!", "x", false, false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			set := parseIgnore([]byte(c.rules))
			got := false
			if set != nil {
				n := set.decide(c.path, filepath.Base(c.path), c.dir)
				got = n >= 0 && !set.rules[n].negated
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestHugeIgnoreFileIsCutAtALine(t *testing.T) {
	text := bytes.Repeat([]byte("aaaaaaa\n"), maxIgnoreFile/8)
	text = append(text, "late.txt\n"...)
	set := parseIgnore(text)
	assert.Equal(t, -1, set.decide("late.txt", "late.txt", false))
	assert.GreaterOrEqual(t, set.decide("aaaaaaa", "aaaaaaa", false), 0)
}

func TestHostileIgnoreRuleEnds(t *testing.T) {
	began := time.Now()
	set := parseIgnore([]byte(strings.Repeat("**/*a*a*a*b/", 30) + "**/c"))
	set.decide(strings.Repeat(strings.Repeat("a", 50)+"/", 60)+"d", "d", false)
	assert.Less(t, time.Since(began), time.Minute)
}

// slowWild is git's own algorithm, step by step, as the oracle.
func slowWild(p, text string, pathname bool) bool {
	return wild(p, 0, text, pathname)
}

func wild(p string, i int, text string, pathname bool) bool {
	if i == len(p) {
		return text == ""
	}
	switch p[i] {
	case '*':
		end := i
		for end < len(p) && p[end] == '*' {
			end++
		}
		slashes := !pathname
		if end-i > 1 && (i == 0 || p[i-1] == '/') && (end == len(p) || p[end] == '/' || strings.HasPrefix(p[end:], `\/`)) {
			slashes = true
			if end < len(p) && p[end] == '/' && wild(p, end+1, text, pathname) {
				return true
			}
		}
		for n := 0; ; n++ {
			if wild(p, end, text[n:], pathname) {
				return true
			}
			if n == len(text) || text[n] == '/' && !slashes {
				return false
			}
		}
	case '[':
		set, end := parseGitClass(p, i)
		if set == nil || text == "" || text[0] == '/' && pathname || set[text[0]>>6]&(1<<(text[0]&63)) == 0 {
			return false
		}
		return wild(p, end+1, text[1:], pathname)
	case '?':
		return text != "" && (text[0] != '/' || !pathname) && wild(p, i+1, text[1:], pathname)
	case '\\':
		if i++; i == len(p) {
			return false
		}
	}
	return text != "" && text[0] == p[i] && wild(p, i+1, text[1:], pathname)
}

func randomRule(r *rand.Rand) string {
	parts := []string{"a", "b", "ab", "*", "**", "?", "[ab]", "[!a]", "[^b]", "[a-b]", "[]a]", "[[:alpha:]]", "[[:foo:]]", "[[:a]", "[a\\]b]", "[!]a]", "[a-]", "[-a]", "[\\a-b]", "[a-\\b]", "[b-a]", "[a", `\a`, `\`, " ", ".", "x.o", "*.o", "é", "/", "/", "**/", "/**"}
	var b strings.Builder
	if r.IntN(5) == 0 {
		b.WriteString("!")
	}
	for range 1 + r.IntN(5) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	if r.IntN(6) == 0 {
		b.WriteString("\r")
	}
	return b.String()
}

func TestWildmatchAgreesWithOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	hits := 0
	for range 50000 {
		compareWild(t, strings.Trim(randomRule(r), "!\r/"), randomPath(r), &hits)
	}
	require.Greater(t, hits, 1000)
}

func compareWild(t *testing.T, rule, path string, hits *int) {
	t.Helper()
	cut := strings.IndexAny(rule, `*?[\`)
	if cut < 0 {
		return
	}
	anchored := strings.Contains(rule, "/")
	if !anchored {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	rest, ok := strings.CutPrefix(path, rule[:cut])
	want := ok && slowWild(rule[cut:], rest, anchored)
	require.Equal(t, want, compileGitGlob(rule, anchored).match(path), "%q on %q", rule, path)
	if want {
		*hits++
	}
}

func FuzzIgnore(f *testing.F) {
	for _, seed := range []string{"*.o", "**/a/**", "a\\ \r\n", "[[:alpha:]-z]", "[]-a]", "!x/", "a**/b", `**\/a`, "\xef\xbb\xbf/a/", "[a-\\]]b"} {
		f.Add([]byte(seed), "a/b/x.o")
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		if len(text) > 200 || len(path) > 60 {
			return
		}
		if set := parseIgnore(text); set != nil {
			base := path[strings.LastIndexByte(path, '/')+1:]
			n := set.decide(path, base, true)
			best := -1
			for i := range set.rules {
				if set.rules[i].matches(path, base, true) {
					best = i
				}
			}
			require.Equal(t, best, n, "the tables and the rules one by one differ")
		}
		rule := string(text)
		if strings.Count(rule, "*") < 8 && !strings.ContainsAny(rule, "\x00\n") {
			hits := 0
			compareWild(t, strings.Trim(rule, "/"), strings.Trim(path, "/"), &hits)
		}
	})
}

// TestIgnoreAgreesWithGit walks random trees full of random ignore files, and
// asks git about every path.
func TestIgnoreAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		root := t.TempDir()
		run(t, git, root, nil, "init", "-q")
		for range 30 {
			path := randomPath(r)
			if r.IntN(4) == 0 {
				path += ".o"
			}
			full := filepath.Join(root, path)
			if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
				_ = os.WriteFile(full, nil, 0o644) // it may be a folder already
			}
		}
		ignoreRandomly(t, r, root)
		all, _ := paths(t, Scope{Root: open(t, root), Hidden: true, IncludeIgnored: true})
		shown, _ := paths(t, Scope{Root: open(t, root), Hidden: true})
		ignored := gitIgnored(t, git, root, all)
		var want []string
		for _, path := range all {
			if !ignored[path] {
				want = append(want, path)
			}
		}
		require.Equal(t, want, shown, "%s", dumpIgnores(root))
	}
}

func ignoreRandomly(t *testing.T, r *rand.Rand, root string) {
	var dirs []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.IsDir() && (path == root || r.IntN(3) == 0) {
			dirs = append(dirs, path)
		}
		return err
	}))
	for i, dir := range dirs {
		var text strings.Builder
		for range 1 + r.IntN(6) {
			fmt.Fprintln(&text, randomRule(r))
		}
		name := filepath.Join(dir, ".gitignore")
		if i == 0 && r.IntN(2) == 0 {
			name = filepath.Join(root, ".git", "info", "exclude")
		}
		require.NoError(t, os.WriteFile(name, []byte(text.String()), 0o644))
	}
}

func dumpIgnores(root string) string {
	var b strings.Builder
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if d.Name() == ".gitignore" || d.Name() == "exclude" {
			text, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s: %q\n", strings.TrimPrefix(path, root), text)
		}
		return nil
	})
	return b.String()
}

func gitIgnored(t *testing.T, git, root string, list []string) map[string]bool {
	out := run(t, git, root, []byte(strings.Join(list, "\x00")+"\x00"), "check-ignore", "--no-index", "--stdin", "-z")
	ignored := map[string]bool{}
	for path := range strings.SplitSeq(out, "\x00") {
		ignored[path] = true
	}
	return ignored
}

func run(t *testing.T, git, dir string, stdin []byte, args ...string) string {
	cmd := exec.Command(git, args...)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(os.Environ()), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code > 1 { // 1: none is ignored
		require.NoError(t, err, "git %v: %s", args, stderr.String())
	}
	return string(out)
}
