package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWalk(t *testing.T) {
	root := tree(t, with(names("a.txt", "a/x", "a-b/y", "dist/app.js", "dist/keep/k.js", "node_modules/m/i.js", "sub/node_modules/j.js",
		".env", ".github/workflows/ci.yml", ".git/config", "sub/.hidden/z", "sub/x.log", "sub/keep.log"),
		".gitignore", "dist/\n*.log\n", "sub/.ignore", "!keep.log\n", ".git/info/exclude", "a-b\n"))
	for _, c := range []struct {
		reason  string
		scope   Scope
		want    string
		skipped Skipped
	}{
		{"in order of components, with ignore rules", Scope{},
			"a/x a.txt sub/keep.log", Skipped{Ignored: 5, Hidden: 5}},
		{"hidden names", Scope{Hidden: true},
			".env .github/workflows/ci.yml .gitignore a/x a.txt sub/.hidden/z sub/.ignore sub/keep.log", Skipped{Ignored: 5}},
		{"ignored names", Scope{IncludeIgnored: true},
			"a/x a-b/y a.txt dist/app.js dist/keep/k.js node_modules/m/i.js sub/keep.log sub/node_modules/j.js sub/x.log", Skipped{Hidden: 5}},
		{"what no glob asks for is not counted", Scope{Include: []string{"*.txt"}},
			"a.txt", Skipped{Ignored: 4, Hidden: 2}},
		{"a folder that is named", Scope{Include: []string{".github/**"}},
			".github/workflows/ci.yml", Skipped{}},
		{"a path beats ignore rules", Scope{Include: []string{"dist/app.js", ".git/config", "node_modules/m/i.js"}},
			".git/config dist/app.js node_modules/m/i.js", Skipped{}},
		{"a path beats ignore rules for itself alone", Scope{Include: []string{"{dist/app.js,**/*.js}"}},
			"dist/app.js", Skipped{Ignored: 4, Hidden: 2}},
		{"globs that name .git enter it", Scope{Include: []string{".git/*"}}, ".git/config", Skipped{}},
		{"Base inside of what is ignored", Scope{Base: "dist"}, "dist/app.js dist/keep/k.js", Skipped{}},
		{"Base in a hidden folder", Scope{Base: "sub/.hidden"}, "sub/.hidden/z", Skipped{}},
		{"Base in node_modules", Scope{Base: "node_modules/m"}, "node_modules/m/i.js", Skipped{}},
		{"Base is a file", Scope{Base: "sub/x.log"}, "sub/x.log", Skipped{}},
		{"the rules above Base apply", Scope{Base: "sub"}, "sub/keep.log", Skipped{Ignored: 2, Hidden: 2}},
		{"globs are below Base", Scope{Base: "dist", Include: []string{"keep/*"}}, "dist/keep/k.js", Skipped{}},
		{"an exclude leaves out a folder, uncounted", Scope{Exclude: []string{"sub/", "a*"}}, "", Skipped{Ignored: 2, Hidden: 3}},
		{"global excludes come last", Scope{GlobalIgnore: []byte("*.txt\nkeep.log\n")}, "a/x sub/keep.log", Skipped{Ignored: 6, Hidden: 5}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			c.scope.Root = open(t, root)
			got, skipped := paths(t, c.scope)
			assert.Equal(t, c.want, strings.Join(got, " "))
			assert.Equal(t, c.skipped, skipped)
		})
	}
}

func TestWalkBaseBeatsTheRuleThatIgnoresIt(t *testing.T) {
	root := tree(t, map[string]string{".gitignore": "*\n!*.go\n", "made/w.py": "", "made/.gitignore": "deep\n", "made/deep/x": "", "made/sub/y": ""})
	got, skipped := paths(t, Scope{Root: open(t, root), Base: "made"})
	assert.Equal(t, []string{"made/sub/y", "made/w.py"}, got)
	assert.Equal(t, 1, skipped.Ignored)
}

func TestWalkInnerRepository(t *testing.T) {
	root := tree(t, map[string]string{".gitignore": "*.log\n", ".ignore": "*.tmp\n", "in/.git/info/exclude": "/x\n", "in/a.log": "", "in/a.tmp": "", "in/x": "", "b.log": ""})
	got, _ := paths(t, Scope{Root: open(t, root)})
	assert.Equal(t, []string{"in/a.log"}, got, "git rules end at a repository's top, .ignore does not")
}

func TestWalkLinksAndSpecialFiles(t *testing.T) {
	outside := tree(t, names("secret"))
	root := tree(t, map[string]string{"a/x.txt": "", "a/loop": "->..", "a/self": "->.", "out": "->" + outside, "gone": "->nowhere", "l.txt": "->a/x.txt", ".gitignore": "->l.txt"})
	mkfifo(t, filepath.Join(root, "pipe.txt"))
	var got []string
	_, err := Walk(context.Background(), Scope{Root: open(t, root)}, func(f File) error {
		got = append(got, fmt.Sprint(f.Path, " ", f.Link))
		if f.Link {
			_, _, err := f.Open()
			assert.Error(t, err)
		}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"a/loop true", "a/self true", "a/x.txt false", "gone true", "l.txt true", "out true"}, got)
}

func TestWalkBaseErrors(t *testing.T) {
	root := tree(t, map[string]string{"f": "", "l": "->f", "d": "->.", "sub/x": ""})
	mkfifo(t, filepath.Join(root, "pipe"))
	for base, want := range map[string]error{
		"nowhere": fs.ErrNotExist, "sub/nowhere": fs.ErrNotExist, "f/x": fs.ErrNotExist,
		"l": ErrNotSearchable, "d/sub": ErrNotSearchable, "pipe": ErrNotSearchable,
		"../x": ErrPatternEscapes, "/etc": ErrPatternEscapes, "sub/../..": ErrPatternEscapes,
	} {
		_, err := Walk(context.Background(), Scope{Root: open(t, root), Base: base}, func(File) error { return nil })
		assert.ErrorIs(t, err, want, base)
	}
	got, _ := paths(t, Scope{Root: open(t, root), Base: "./sub/"})
	assert.Equal(t, []string{"sub/x"}, got)
}

func TestWalkDepthIsBounded(t *testing.T) {
	root := t.TempDir()
	dir := root
	for range maxDepth + 5 {
		dir += "/d"
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(dir+"/deep", nil, 0o644))
	require.NoError(t, os.WriteFile(root+"/d/top", nil, 0o644))
	got, skipped := paths(t, Scope{Root: open(t, root)})
	assert.Equal(t, []string{"d/top"}, got)
	assert.Equal(t, 1, skipped.TooDeep)
}

func TestWalkStops(t *testing.T) {
	root := tree(t, names("a", "b", "c"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Walk(ctx, Scope{Root: open(t, root)}, func(File) error { t.Error("visited"); return nil })
	assert.ErrorIs(t, err, context.Canceled)

	enough := errors.New("enough")
	n := 0
	_, err = Walk(context.Background(), Scope{Root: open(t, root)}, func(File) error { n++; return enough })
	assert.ErrorIs(t, err, enough)
	assert.Equal(t, 1, n)
}

func TestWalkUnreadableIsCounted(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read everything")
	}
	root := tree(t, names("ok/x", "shut/y"))
	require.NoError(t, os.Chmod(filepath.Join(root, "shut"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "shut"), 0o755) })
	got, skipped := paths(t, Scope{Root: open(t, root)})
	assert.Equal(t, []string{"ok/x"}, got)
	assert.Equal(t, 1, skipped.Unreadable)
}

func TestList(t *testing.T) {
	root := tree(t, map[string]string{"main.go": "1", "src/a.ts": "22", "src/b.tsx": "", "src/deep/c.ts": "4444", "docs/x.md": "", "docs/y.MD": "",
		"dist/app.js": "", ".gitignore": "dist/\n", "notes/my slow cooking 1.md": "", "notes/slow.md": "", "loop": "->."})
	for _, c := range []struct{ reason, pattern, base, want string }{
		{"braces", "src/**/*.{ts,tsx}", "", "src/a.ts src/b.tsx src/deep/c.ts"},
		{"** is also no folder", "**/*.go", "", "main.go"},
		{"a blank is no separator", "**/*slow cooking*.md", "", "notes/my slow cooking 1.md"},
		{"a path under an ignored folder", "dist/app.js", "", "dist/app.js"},
		{"a path below Base", "deep/c.ts", "src", "src/deep/c.ts"},
		{"no wildcard, no such file", "src", "", ""},
		{"a final slash", "src/", "", "src/a.ts src/b.tsx src/deep/c.ts"},
		{"a link is one name", "l*", "", "loop"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := list(t, Scope{Root: open(t, root), Base: c.base}, ListQuery{Pattern: c.pattern})
			assert.Equal(t, c.want, strings.Join(got, " "))
		})
	}
	for _, pattern := range []string{"../**", "{..,sub}/*", "/etc/*"} {
		_, err := List(context.Background(), Scope{Root: open(t, root)}, ListQuery{Pattern: pattern})
		assert.ErrorIs(t, err, ErrPatternEscapes, pattern)
	}
	both := list(t, Scope{Root: open(t, root), Include: []string{"*.ts"}}, ListQuery{Pattern: "src/**"})
	assert.Equal(t, []string{"src/a.ts", "src/deep/c.ts"}, both)
}

func TestListOrders(t *testing.T) {
	root := tree(t, map[string]string{"f1": "333", "f2": "1", "f3": "22", "f4": "22"})
	base := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, day := range []int{1, 3, 2, 2} {
		when := base.AddDate(0, 0, day)
		require.NoError(t, os.Chtimes(filepath.Join(root, fmt.Sprintf("f%d", i+1)), when, when))
	}
	get := func(q ListQuery) string {
		return strings.Join(list(t, Scope{Root: open(t, root)}, q), " ")
	}
	assert.Equal(t, "f1 f2 f3 f4", get(ListQuery{}))
	assert.Equal(t, "f2 f3 f4 f1", get(ListQuery{Sort: SortMtime}))
	assert.Equal(t, "f1 f3 f4 f2", get(ListQuery{Sort: SortSize}))
	assert.Equal(t, "f3 f4", get(ListQuery{Sort: SortSize, Offset: 1, Limit: 2}))
	assert.Equal(t, "f3", get(ListQuery{Offset: 2, Limit: 1}))
	assert.Equal(t, "", get(ListQuery{Sort: SortMtime, Offset: 9}))
	got, err := List(context.Background(), Scope{Root: open(t, root)}, ListQuery{Sort: SortSize, Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, 4, got.Total)
	assert.EqualValues(t, 3, got.Files[0].Info.Size)
}

func TestListCountsTheRest(t *testing.T) {
	files := map[string]string{"local.md": "", ".gitignore": "local.md\n*.o\n", "x.o": "", ".secret.md": ""}
	for i := range 250 {
		files[fmt.Sprintf("d/f%03d.txt", i)] = ""
	}
	root := tree(t, files)
	got, err := List(context.Background(), Scope{Root: open(t, root)}, ListQuery{Pattern: "**/*.txt"})
	require.NoError(t, err)
	assert.Len(t, got.Files, DefaultListLimit)
	assert.Equal(t, 250, got.Total)
	assert.Equal(t, Skipped{}, got.Skipped)

	got, err = List(context.Background(), Scope{Root: open(t, root)}, ListQuery{Pattern: "*.md"})
	require.NoError(t, err)
	assert.Equal(t, Skipped{Ignored: 1, Hidden: 1}, got.Skipped)
}

// A path is looked up; the folders on its way are not read.
func TestListPathDoesNotWalk(t *testing.T) {
	root := tree(t, names("a/b/c.txt"))
	g, err := compileGlobs([]string{"a/b/c.txt"}, wholePath)
	require.NoError(t, err)
	w := &walker{include: g}
	only, ok := w.onlyNames(folder{inc: g.start()})
	assert.True(t, ok)
	assert.Equal(t, []string{"a"}, only)
	assert.Equal(t, []string{"a/b/c.txt"}, list(t, Scope{Root: open(t, root)}, ListQuery{Pattern: "a/b/c.txt"}))
}

func TestShow(t *testing.T) {
	for _, c := range []struct{ reason, path, want string }{
		{"ordinary", "a/b c.txt", "a/b c.txt"},
		{"a narrow blank stays itself", "at 10.15\u202fAM.txt", "at 10.15\u202fAM.txt"},
		{"other scripts", "é日本👩‍👩‍👧", "é日本👩‍👩‍👧"},
		{"a line break", "a\nb", `"a\nb"`},
		{"what looks like one", `a\nb`, `a\nb`},
		{"a terminal sequence", "\x1b[31mred", `"\x1b[31mred"`},
		{"invalid UTF-8", "bad\xffutf8", `"bad\xffutf8"`},
		{"a bidi override", "a\u202etxt.exe", `"a\u202etxt.exe"`},
		{"a C1 control", "a\u0085b", `"a\u0085b"`},
		{"a tag", "a\U000e0041", `"a\U000e0041"`},
		{"quotes and backslashes in a quoted one", "\"\\\n", `"\"\\\n"`},
		{"a quote in front", `"a"`, `"\"a\""`},
		{"a quote elsewhere", `a"b`, `a"b`},
	} {
		t.Run(c.reason, func(t *testing.T) { assert.Equal(t, c.want, Show(c.path)) })
	}
}
