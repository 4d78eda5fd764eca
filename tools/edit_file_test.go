package tools

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEditFileChangesThePlaceAndNothingElse(t *testing.T) {
	for _, row := range []struct{ name, content, old, new, file, want string }{
		{"one word", "a\nb\nc\n", "b", "B", "a\nB\nc\n", "Successfully edited f\n\n@@ -2,1 +2,1 @@\n- b\n+ B"},
		{"CRLF stays", "a\r\nb\r\n", "a\nb", "A\nB", "A\r\nB\r\n", ""},
		{"a BOM that old_string and new_string have is no text", "\ufeffa\nb\n", "\ufeffa", "\ufeffA", "\ufeffA\nb\n", ""},
		{"a BOM that new_string has does not come twice", "\ufeffa\nb\n", "a", "\ufeffA", "\ufeffA\nb\n", ""},
		{"a BOM that is asked away stays", "\ufeffa\nb\n", "\ufeffa", "A", "\ufeffA\nb\n", ""},
		{"a BOM stays", "\ufeffa\nb\n", "b", "B", "\ufeffa\nB\n", ""},
		{"UTF-16 stays", "\xff\xfea\x00\n\x00", "a", "b", "\xff\xfeb\x00\n\x00", ""},
		{"no final newline stays", "a\nb", "b", "B", "a\nB", ""},
		{"dollars are dollars", "NAME\n", "NAME", "run.$$ $1 ${1} \\1", "run.$$ $1 ${1} \\1\n", ""},
		{"escapes are two characters", "say(1)\n", "say(1)", "say('one\\ntwo')", "say('one\\ntwo')\n", ""},
		{"per cent signs", "x\n", "x", "100%d %s %v", "100%d %s %v\n", "Successfully edited f\n\n@@ -1,1 +1,1 @@\n- x\n+ 100%d %s %v"},
		{"look-alike quotes", "Ouvre l’armoire\n", "l'armoire", "l'autre armoire", "Ouvre l’autre armoire\n", "Successfully edited f (matched via quote normalization)\n\n@@ -1,1 +1,1 @@\n- Ouvre l’armoire\n+ Ouvre l’autre armoire"},
		{"removed", "a\nb\nc\n", "b\n", "", "a\nc\n", "Successfully edited f\n\n@@ -2,1 +1,0 @@\n- b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": row.content})
			p.ok("read_file", map[string]any{"file_path": "f"})
			got := p.ok("edit_file", map[string]any{"file_path": "f", "old_string": row.old, "new_string": row.new})
			require.Equal(t, row.file, p.file("f"))
			if row.want != "" {
				require.Equal(t, row.want, got)
			}
		})
	}
}

func TestEditFileRefuses(t *testing.T) {
	for _, row := range []struct {
		name, content, old, new string
		want                    []string
	}{
		{"identical strings", "a\n", "a", "a", []string{"Error: old_string and new_string are identical"}},
		{"not found", "alpha\nbeta\n", "gamma", "x", []string{"Error: old_string not found in f"}},
		{"found several times", "a = 1\nz\na = 1\nz\na = 1\n", "a = 1", "a = 2", []string{"Error: old_string found 3 times in f. Must be unique. ", "1, 3", "5"}},
		{"found at overlapping places", "-\n-\n-\n", "-\n-\n", "+\n", []string{"Error: old_string found 2 times in f. Must be unique."}},
		{"other indentation, with the cause", "func f() {\n\tif ok {\n", "  if ok {", "  if no {", []string{"Error: old_string not found in f\n", "tab", "2 | \tif ok {"}},
		{"nothing but the model's quotes", "say “b”\n", "\"b\"", "“b”", []string{"Error: the edit would change nothing in f"}},
		{"empty old_string on a file with content", "abc\n", "", "x", []string{"Error: old_string is empty, but f has content."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": row.content})
			p.ok("read_file", map[string]any{"file_path": "f"})
			got := p.fails("edit_file", map[string]any{"file_path": "f", "old_string": row.old, "new_string": row.new})
			for _, words := range row.want {
				require.Contains(t, got, words)
			}
			require.Equal(t, row.content, p.file("f"))
		})
	}
	p := newPlace(t, map[string]string{"f": "a\n", "n.ipynb": "{}", "bad": "a\n\xff\n"})
	edit := func(name string) map[string]any {
		return map[string]any{"file_path": name, "old_string": "a", "new_string": "b"}
	}
	require.Equal(t, readFirstToEdit, p.fails("edit_file", edit("f")))
	require.Contains(t, p.fails("edit_file", edit("g")), "Error: g does not exist")
	require.Contains(t, p.fails("edit_file", edit("n.ipynb")), "is a Jupyter notebook")
	require.Contains(t, p.fails("edit_file", edit("../f")), "Path escapes workspace: ../f")
	p.ok("read_file", map[string]any{"file_path": "f"})
	p.write("f", "a\ngreen\n")
	got := p.fails("edit_file", edit("f"))
	require.Equal(t, changedSince+"editing.\nWhat has changed since:\n@@ -1,0 +2,1 @@\n+ green", got)
}

func TestAnEmptyOldStringFillsAMissingOrBlankFile(t *testing.T) {
	p := newPlace(t, map[string]string{"blank": "", "white": "\n \n"})
	fill := func(name string) map[string]any {
		return map[string]any{"file_path": name, "old_string": "", "new_string": "first\n"}
	}
	p.ok("edit_file", fill("new/file"))
	p.ok("edit_file", fill("blank"))
	require.Equal(t, readFirstToEdit, p.fails("edit_file", fill("white")), "even blanks are content")
	p.ok("read_file", map[string]any{"file_path": "white"})
	p.ok("edit_file", fill("white"))
	for _, name := range []string{"new/file", "blank", "white"} {
		require.Equal(t, "first\n", p.file(name), name)
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "a\n"})
	p.ok("read_file", map[string]any{"file_path": "f"})
	args := map[string]any{"file_path": "f", "old_string": "a", "new_string": "b", "dry_run": true}
	require.Equal(t, "Dry run: nothing was written. The edit of f would be\n\n@@ -1,1 +1,1 @@\n- a\n+ b", p.ok("edit_file", args))
	require.Equal(t, "a\n", p.file("f"))
}

func TestAnEditAfterAPartialViewKeepsWhatIsKnown(t *testing.T) {
	p := newPlace(t, map[string]string{"f": lines(20)})
	p.ok("read_file", map[string]any{"file_path": "f", "limit": 5})
	p.ok("edit_file", map[string]any{"file_path": "f", "old_string": "line c", "new_string": "line c1\nline c2"})
	overwrite := map[string]any{"file_path": "f", "content": "x\n"}
	require.Contains(t, p.fails("write_file", overwrite), "You have seen only lines 1-6 of 21")
	p.ok("read_file", map[string]any{"file_path": "f", "offset": 7})
	p.ok("write_file", overwrite)

	q := newPlace(t, map[string]string{"f": "word " + strings.Repeat("x", 5000)})
	q.ok("read_file", map[string]any{"file_path": "f"})
	q.ok("edit_file", map[string]any{"file_path": "f", "old_string": "word", "new_string": "other"})
	require.Contains(t, q.fails("write_file", overwrite), "only in part", "an edit does not show the rest of a long line")
}

func TestAnEditThroughALinkKeepsTheLink(t *testing.T) {
	p := newPlace(t, map[string]string{"d/real": "one\n"})
	require.NoError(t, os.Symlink("d/real", filepath.Join(p.dir, "l1")))
	require.NoError(t, os.Symlink("l1", filepath.Join(p.dir, "l2")))
	p.ok("read_file", map[string]any{"file_path": "l2"})
	p.ok("edit_file", map[string]any{"file_path": "l2", "old_string": "one", "new_string": "two"})
	require.Equal(t, "two\n", p.file("d/real"))
	target, err := os.Readlink(filepath.Join(p.dir, "l2"))
	require.NoError(t, err)
	require.Equal(t, "l1", target)
}

func TestParallelEditsOfOneFileAllLand(t *testing.T) {
	p := newPlace(t, map[string]string{"f": strings.Join([]string{"r0;", "r1;", "r2;", "r3;", "r4;", "r5;", "r6;", "r7;"}, "\n") + "\n"})
	p.ok("read_file", map[string]any{"file_path": "f"})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			n := string(rune('0' + i))
			res := p.call("edit_file", map[string]any{"file_path": "f", "old_string": "r" + n + ";", "new_string": "done " + n})
			if res.IsError {
				t.Error(res.Text)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 8, strings.Count(p.file("f"), "done"))
}

func TestReplaceAllIsBounded(t *testing.T) {
	p := newPlace(t, map[string]string{"f": strings.Repeat("aab\n", 100_000), "few": "a\n\n\n\nb\n"})
	p.ok("read_file", map[string]any{"file_path": "f", "limit": 1})
	got := p.fails("edit_file", map[string]any{"file_path": "f", "old_string": "aab", "new_string": strings.Repeat("x", 5000), "replace_all": true})
	require.Contains(t, got, "the edit would make f larger than 256.0 MB. Nothing was changed")
	got = p.ok("edit_file", map[string]any{"file_path": "f", "old_string": "aab", "new_string": "c", "replace_all": true})
	require.True(t, strings.HasSuffix(got, "\n[100000 places changed]"), got[len(got)-100:])
	require.Contains(t, got, "1000 of 100000 changes")
	require.Less(t, len(got), 20_000)
	require.Equal(t, strings.Repeat("c\n", 100_000), p.file("f"))

	p.ok("read_file", map[string]any{"file_path": "few"})
	p.ok("edit_file", map[string]any{"file_path": "few", "old_string": "\n\n", "new_string": "\n", "replace_all": true})
	require.Equal(t, "a\n\nb\n", p.file("few"), "of overlapping places the first")
}

func TestTheEncodingTheModelNamedIsKept(t *testing.T) {
	p := newPlace(t, map[string]string{"f.txt": "\xe9\xff\n"}) // too little to tell it by
	p.fails("read_file", map[string]any{"file_path": "f.txt"})
	p.ok("read_file", map[string]any{"file_path": "f.txt", "encoding": "windows-1251"})
	p.ok("edit_file", map[string]any{"file_path": "f.txt", "old_string": "йя", "new_string": "йяж"})
	p.ok("edit_file", map[string]any{"file_path": "f.txt", "old_string": "ж", "new_string": "ш"})
	require.Equal(t, "\xe9\xff\xf8\n", p.file("f.txt"))
	got := p.fails("edit_file", map[string]any{"file_path": "f.txt", "old_string": "ш", "new_string": "漢"})
	require.Equal(t, "Error: new_string cannot be written in the encoding of f.txt, windows-1251: it has no '漢' (U+6F22) (line 1 of new_string). Nothing was changed.", got)
	p.ok("write_file", map[string]any{"file_path": "f.txt", "content": "я\n"})
	require.Equal(t, "\xff\n", p.file("f.txt"))
	p.ok("edit_file", map[string]any{"file_path": "f.txt", "old_string": "я", "new_string": "ю"})
	p.write("f.txt", "\xe0\n")
	require.Contains(t, p.fails("edit_file", map[string]any{"file_path": "f.txt", "old_string": "ю", "new_string": "я"}), "+ а")
}

// Who reads a file anew in another encoding edits what was shown then.
func TestTheLatestReadingCounts(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "na\u00efve\nfoo\n"})
	p.ok("read_file", map[string]any{"file_path": "f", "encoding": "latin1"})
	p.ok("read_file", map[string]any{"file_path": "f", "encoding": "utf-8"})
	p.ok("edit_file", map[string]any{"file_path": "f", "old_string": "foo", "new_string": "caf\u00e9"})
	require.Equal(t, "na\u00efve\ncaf\u00e9\n", p.file("f"))
}

func TestWhatRulesHideIsNotToldByAnEdit(t *testing.T) {
	reg := NewRegistry(Builtin()...)
	policy, err := NewPolicy(PolicyOptions{Deny: []string{"read_file(sec/**)"}}, reg)
	require.NoError(t, err)
	p := newPlace(t, map[string]string{"pub/x": "user = me\npassword = hunter2\n", "sec/b": "\xe9\xff", "sec/c": "text\n"}, func(e *Env) { e.Tools, e.Policy = reg, policy })
	p.ok("read_file", map[string]any{"file_path": "pub/x", "limit": 1})
	require.NoError(t, os.Rename(filepath.Join(p.dir, "pub/x"), filepath.Join(p.dir, "sec/x")))
	require.Equal(t, "Error: old_string not found in sec/x", p.fails("edit_file", map[string]any{"file_path": "sec/x", "old_string": "password = ?", "new_string": "x"}))
	require.NotContains(t, p.call("edit_file", map[string]any{"file_path": "sec/x", "old_string": "password", "new_string": "x", "dry_run": true}).Text, "hunter2")
	for _, old := range []string{"x", ""} {
		require.Equal(t, p.fails("edit_file", map[string]any{"file_path": "sec/c", "old_string": old, "new_string": "y"}),
			strings.ReplaceAll(p.fails("edit_file", map[string]any{"file_path": "sec/b", "old_string": old, "new_string": "y"}), "sec/b", "sec/c"), "text and no text look alike")
	}
}

func TestABrokenNotebookIsRepairedAsText(t *testing.T) {
	p := newPlace(t, map[string]string{"n.ipynb": "{\"cells\": [\n"})
	p.ok("read_file", map[string]any{"file_path": "n.ipynb"})
	p.ok("edit_file", map[string]any{"file_path": "n.ipynb", "old_string": "[\n", "new_string": "[]}\n"})
	require.Contains(t, p.fails("edit_file", map[string]any{"file_path": "n.ipynb", "old_string": "[]", "new_string": "[1]"}), "Use notebook_edit")
}
