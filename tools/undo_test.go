package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

// edited reads f and edits it.
func (p *place) edited(file, old, new string) Result {
	p.t.Helper()
	p.ok("read_file", map[string]any{"file_path": file})
	res := p.call("edit_file", map[string]any{"file_path": file, "old_string": old, "new_string": new})
	require.False(p.t, res.IsError, res.Text)
	return res
}

func TestUndoGoesBackStepByStep(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "one\r\n", "g": "\xff\xfea\x00"})
	p.edited("f", "one", "two")
	p.edited("g", "a", "b")
	p.ok("write_file", map[string]any{"file_path": "d/new", "content": "x"})

	require.Equal(t, "Took back write_file of d/new\nThe file did not exist before; it was removed.", p.ok("undo", nil))
	require.NoFileExists(t, filepath.Join(p.dir, "d/new"))
	require.Equal(t, "Took back edit_file of g\n\n@@ -1,1 +1,1 @@\n- b\n+ a", p.ok("undo", nil))
	require.Equal(t, "\xff\xfea\x00", p.file("g"), "byte for byte")
	p.ok("undo", nil)
	require.Equal(t, "one\r\n", p.file("f"))
	require.Contains(t, p.fails("undo", nil), "Error: there is nothing to undo")
	// What it shows again need not be read again.
	p.ok("edit_file", map[string]any{"file_path": "f", "old_string": "one", "new_string": "three"})
	p.ok("undo", nil)
	require.Equal(t, "one\r\n", p.file("f"))
}

func TestUndoingAnUndoMakesTheChangeAgain(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "one\n"})
	p.edited("f", "one", "two")
	p.ok("write_file", map[string]any{"file_path": "new", "content": "x"})
	for _, want := range []string{"new", "f"} {
		res := p.call("undo", nil)
		require.False(t, res.IsError, res.Text)
		again := p.ok("undo", map[string]any{"id": res.Meta["undo"]})
		require.Contains(t, again, "Took back undo of "+want)
		p.ok("undo", nil) // and is then the latest once more
	}
	require.Equal(t, "one\n", p.file("f"))
	require.NoFileExists(t, filepath.Join(p.dir, "new"))
	list := p.ok("undo", map[string]any{"list": true})
	require.Equal(t, 7, strings.Count(list, "\n"), list)
	require.Contains(t, list, " edit_file f (taken back)")
}

func TestUndoRefusesWhatHasChangedSince(t *testing.T) {
	for why, change := range map[string]func(p *place){
		"by somebody else": func(p *place) { p.write("f", "theirs\n") },
		"gone":             func(p *place) { require.NoError(p.t, os.Remove(filepath.Join(p.dir, "f"))) },
	} {
		t.Run(why, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": "one\n"})
			p.edited("f", "one", "two")
			change(p)
			before := snapshot(t, p.dir)
			require.Contains(t, p.fails("undo", nil), "Error: f has changed since, so the change cannot be taken back without losing that.")
			require.Equal(t, before, snapshot(t, p.dir))
		})
	}
	p := newPlace(t, map[string]string{"f": "one\n"})
	first := p.edited("f", "one", "two").Meta["undo"]
	p.edited("f", "two", "three")
	require.Contains(t, p.fails("undo", map[string]any{"id": first}), "has changed since", "a later change must go first")
	require.Equal(t, "three\n", p.file("f"))
}

func TestUndoIsBoundByTheRulesOfWriting(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "one\n"})
	p.edited("f", "one", "two")
	policy, err := NewPolicy(PolicyOptions{Deny: []string{"write_file(f)"}}, p.env.Tools)
	require.NoError(t, err)
	p.env.Policy = policy
	require.Contains(t, p.fails("undo", nil), "Action denied")
	require.Equal(t, "two\n", p.file("f"))
}

func TestUndoWithoutASession(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "one\n"})
	alone := p.with(SessionOptions{Stateless: true})
	version := alone.call("read_file", map[string]any{"file_path": "f"}).Meta["version"]
	res := alone.call("edit_file", map[string]any{"file_path": "f", "old_string": "one", "new_string": "two", "version": version})
	require.False(t, res.IsError, res.Text)
	id, _ := res.Meta["undo"].(string)
	require.Len(t, id, 16)
	require.Contains(t, res.Text, "[undo id: "+id+"]")
	require.Contains(t, alone.fails("undo", nil), "pass the undo id that came with the result")
	require.Contains(t, alone.fails("undo", map[string]any{"list": true}), "there is no list of changes")
	require.Contains(t, alone.fails("undo", map[string]any{"id": "AAAAAAAAAAAAAAAA"}), "there is no change AAAAAAAAAAAAAAAA to take back")
	alone.ok("undo", map[string]any{"id": id})
	require.Equal(t, "one\n", p.file("f"))
}

func TestARefusedEditLeavesNothingToUndo(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "one\n"})
	p.ok("read_file", map[string]any{"file_path": "f"})
	p.fails("edit_file", map[string]any{"file_path": "f", "old_string": "nine", "new_string": "two"})
	p.ok("edit_file", map[string]any{"file_path": "f", "old_string": "one", "new_string": "two", "dry_run": true})
	p.ok("write_file", map[string]any{"file_path": "f", "content": "one\n"})
	require.Equal(t, "This session has changed no file.", p.ok("undo", map[string]any{"list": true}))
	require.Contains(t, p.fails("undo", map[string]any{"list": true, "id": "x"}), "exclude each other")
	left, err := os.ReadDir(filepath.Join(filepath.Dir(p.dir), "state"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestUndoKnowsWhatEachChangeIsWorth(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "1\n", "g": "1\n"})
	edit := func(name, old, new string) string {
		res := p.call("edit_file", map[string]any{"file_path": name, "old_string": old, "new_string": new})
		require.False(t, res.IsError, res.Text)
		return res.Meta["undo"].(string)
	}
	undo := func(id string) string {
		res := p.call("undo", map[string]any{"id": id})
		require.False(t, res.IsError, res.Text)
		return res.Meta["undo"].(string)
	}
	p.ok("read_file", map[string]any{"file_path": "f"})
	p.ok("read_file", map[string]any{"file_path": "g"})
	edit("g", "1", "2")
	undo(undo(undo(edit("f", "1", "2")))) // taken back, made again, taken back
	require.Equal(t, "1\n", p.file("f"))
	require.Contains(t, p.ok("undo", map[string]any{}), "Took back edit_file of g", "what is taken back is not tried again")
}

func TestUndoRefuses(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "one\n", "big": "first\n" + strings.Repeat("line\n", sandbox.MaxPreimage/5+1), "x": "a\n", "y": "b\n"})
	p.ok("read_file", map[string]any{"file_path": "a"})
	p.ok("edit_file", map[string]any{"file_path": "a", "old_string": "one", "new_string": "two"})
	p.ok("read_file", map[string]any{"file_path": "big", "limit": 1})
	require.Contains(t, p.ok("edit_file", map[string]any{"file_path": "big", "old_string": "first", "new_string": "FIRST"}), "this change cannot be undone")
	require.Contains(t, p.fails("undo", map[string]any{}), "the latest change, edit_file of big, cannot be taken back")
	require.Equal(t, "two\n", p.file("a"), "not another change than the latest")
	require.Contains(t, p.ok("undo", map[string]any{"list": true}), "(cannot be taken back: ")

	p.ok("read_file", map[string]any{"file_path": "x"})
	res := p.call("edit_file", map[string]any{"file_path": "x", "old_string": "a", "new_string": "b"})
	require.NoError(t, os.Remove(filepath.Join(p.dir, "x")))
	require.NoError(t, os.Symlink("y", filepath.Join(p.dir, "x")))
	require.Contains(t, p.fails("undo", map[string]any{"id": res.Meta["undo"]}), "leads elsewhere since")
	require.Equal(t, "b\n", p.file("y"))
}

func TestAfterAnUndoTheFileIsKnown(t *testing.T) {
	p := newPlace(t, map[string]string{"f": lines(200), "k": "\xe9\xff end\n"})
	p.ok("read_file", map[string]any{"file_path": "f", "limit": 3})
	p.ok("edit_file", map[string]any{"file_path": "f", "old_string": "line a\nline b\nline c\nline d\nline e\nline f\nline g\nline h\nline i\nline j\nline k\nline l\nline m\nline n\nline o\nline p\nline q\nline r\nline s\nline t\nline u\nline v\nline w\nline x\nline y\nline z\n", "new_string": "x\n", "replace_all": true})
	p.ok("undo", map[string]any{})
	p.ok("edit_file", map[string]any{"file_path": "f", "old_string": "line r", "new_string": "line R", "replace_all": true})

	p.ok("read_file", map[string]any{"file_path": "k", "encoding": "windows-1251"})
	p.ok("edit_file", map[string]any{"file_path": "k", "old_string": "end", "new_string": "end ж"})
	require.Contains(t, p.ok("undo", map[string]any{}), "- йя end ж")
	p.ok("edit_file", map[string]any{"file_path": "k", "old_string": "end", "new_string": "end ш"})
	require.Equal(t, "\xe9\xff end \xf8\n", p.file("k"))
}
