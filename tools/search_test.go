package tools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

var tree = map[string]string{
	"main.go": "package main\n\nfunc main() {}\n", "src/a.ts": "needle\n", "src/b.tsx": "one\nneedle two\nthree\n",
	"docs/x.md": "text\n", ".gitignore": "dist/\n", "dist/app.js": "needle\n", ".env": "needle\n", "node_modules/m/i.js": "needle\n",
}

func TestListFiles(t *testing.T) {
	p := newPlace(t, tree)
	for _, row := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"by pattern", map[string]any{"pattern": "src/**/*.{ts,tsx}"}, "src/a.ts\nsrc/b.tsx"},
		{"below a folder, shown from the root", map[string]any{"pattern": "*.ts", "path": "src"}, "src/a.ts"},
		{"all, and what was left out", map[string]any{"pattern": "**"}, "docs/x.md\nmain.go\nsrc/a.ts\nsrc/b.tsx\n[2 ignored paths left out; include_ignored: true shows them]\n[2 hidden paths left out; hidden: true shows them]"},
		{"a literal path beats the ignore rules", map[string]any{"pattern": "dist/app.js"}, "dist/app.js"},
		{"an absolute pattern", map[string]any{"pattern": p.dir + "/src/*.ts"}, "src/a.ts"},
		{"nothing", map[string]any{"pattern": "docs/**/*.rs"}, "No files found matching the pattern."},
		{"nothing at this depth", map[string]any{"pattern": "*.ts"}, "No files found matching the pattern.\n[folders here: dist/, docs/, node_modules/, src/]"},
		{"the top level", map[string]any{"pattern": "*"}, "main.go\n[2 hidden paths left out; hidden: true shows them]\n[folders here: dist/, docs/, node_modules/, src/]"},
		{"the name of a folder", map[string]any{"pattern": "src"}, "No files found matching the pattern.\nsrc is a folder; for what is in it use the pattern src/**"},
		{"a limit", map[string]any{"pattern": "src/*", "limit": 1}, "src/a.ts\n... and 1 more"},
		{"an offset", map[string]any{"pattern": "src/*", "offset": 1}, "src/b.tsx"},
		{"an offset past the end", map[string]any{"pattern": "src/*", "offset": 5}, "No more files: offset 5 is past the last of 2."},
		{"by size", map[string]any{"pattern": "src/*", "sort": "size"}, "src/b.tsx\nsrc/a.ts"},
	} {
		t.Run(row.name, func(t *testing.T) { require.Equal(t, row.want, p.ok("list_files", row.args)) })
	}
	for _, row := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"pattern": ""}, "pattern must not be empty"},
		{map[string]any{"pattern": "*", "path": "srcc"}, "srcc does not exist. Did you mean: src?"},
		{map[string]any{"pattern": "*", "path": "main.go"}, "main.go is a file"},
		{map[string]any{"pattern": "*", "path": ".."}, "Path escapes workspace: .."},
		{map[string]any{"pattern": "../*"}, "A pattern is relative to path"},
		{map[string]any{"pattern": "*", "sort": "name"}, "sort must be one of path, mtime, size"},
		{map[string]any{"pattern": "*", "limit": 0}, "limit must be at least 1"},
		{map[string]any{"pattern": "*", "offset": -1}, "offset must not be negative"},
		{map[string]any{"pattern": "[a"}, "bad glob"},
	} {
		require.Contains(t, p.fails("list_files", row.args), row.want)
	}
}

func TestGrepSearch(t *testing.T) {
	p := newPlace(t, tree)
	ignored := "\n[2 ignored paths left out; include_ignored: true shows them]\n[2 hidden paths left out; hidden: true shows them]"
	for _, row := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"lines", map[string]any{"pattern": "needle"}, "src/a.ts:1:needle\nsrc/b.tsx:2:needle two" + ignored},
		{"context", map[string]any{"pattern": "two$", "context": 1, "path": "src"}, "src/b.tsx-1-one\nsrc/b.tsx:2:needle two\nsrc/b.tsx-3-three"},
		{"files", map[string]any{"pattern": "needle", "output_mode": "files_with_matches", "path": "src"}, "src/a.ts\nsrc/b.tsx"},
		{"counts", map[string]any{"pattern": "e", "output_mode": "count", "path": "src"}, "src/a.ts:1\nsrc/b.tsx:3"},
		{"include", map[string]any{"pattern": "needle", "include": "*.tsx", "path": "src"}, "src/b.tsx:2:needle two"},
		{"exclude", map[string]any{"pattern": "needle", "exclude": "*.tsx", "path": "src"}, "src/a.ts:1:needle"},
		{"one file, though it is ignored", map[string]any{"pattern": "needle", "path": "dist/app.js"}, "dist/app.js:1:needle"},
		{"a folder that is ignored", map[string]any{"pattern": "needle", "path": "dist"}, "dist/app.js:1:needle"},
		{"none", map[string]any{"pattern": "absent", "path": "src"}, "No matches found."},
		{"a limit", map[string]any{"pattern": "e", "limit": 1, "path": "src"}, "src/a.ts:1:needle\n... and 3 more matches"},
		{"an offset past the end", map[string]any{"pattern": "needle", "offset": 9, "path": "src"}, "No more matches: offset 9 is past the last of 2."},
		{"a GNU alternation", map[string]any{"pattern": `one\|two`, "path": "src"}, "No matches found.\n[in RE2 syntax | alone separates alternatives; \\| is the character]"},
		{"options as of grep", map[string]any{"pattern": "NEEDLE", "-i": true, "path": "src/a.ts"}, "src/a.ts:1:needle"},
		{"a pattern that begins with a dash", map[string]any{"pattern": "--x", "path": "src"}, "No matches found."},
	} {
		t.Run(row.name, func(t *testing.T) { require.Equal(t, row.want, p.ok("grep_search", row.args)) })
	}
	require.Equal(t, 2, p.call("grep_search", map[string]any{"pattern": "needle"}).Meta["total_matches"])
	for _, row := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"pattern": "("}, "Error: invalid pattern: a ( without its )"},
		{map[string]any{"pattern": "a(?=b)"}, "look-ahead"},
		{map[string]any{"pattern": "a\nb"}, "Set multiline"},
		{map[string]any{"pattern": ""}, "pattern must not be empty"},
		{map[string]any{"pattern": "x", "path": "nowhere"}, "nowhere does not exist"},
		{map[string]any{"pattern": "x", "path": "../x"}, "Path escapes workspace: ../x"},
		{map[string]any{"pattern": "x", "include": "../*"}, "Error: "},
		{map[string]any{"pattern": "x", "after": -1}, "after must not be negative"},
	} {
		require.Contains(t, p.fails("grep_search", row.args), row.want)
	}
}

func TestASearchInASecondRootNamesPathsThatCanBeRead(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "x\n"})
	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "b"), []byte("needle\n"), 0o644))
	ws, err := sandbox.Open([]sandbox.RootSpec{{Dir: p.dir}, {Dir: other}}, sandbox.Options{})
	require.NoError(t, err)
	defer ws.Close()
	p.env.Workspace = ws
	want := filepath.ToSlash(filepath.Join(other, "b"))
	require.Equal(t, want+":1:needle", p.ok("grep_search", map[string]any{"pattern": "needle", "path": other}))
	require.Equal(t, want, p.ok("list_files", map[string]any{"pattern": "*", "path": other}))
	p.ok("read_file", map[string]any{"file_path": want})
}

func TestASavedResultCanBeSearched(t *testing.T) {
	p := newPlace(t, nil)
	saved, err := p.env.State.Save("one\ntwo\n")
	require.NoError(t, err)
	require.Equal(t, filepath.ToSlash(saved.Path())+":2:two", p.ok("grep_search", map[string]any{"pattern": "two", "path": saved.Path()}))
}
