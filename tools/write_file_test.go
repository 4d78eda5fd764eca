package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	readFirstToWrite = "Error: You must read this file before writing. Use read_file first to see its current contents."
	readFirstToEdit  = "Error: You must read this file before editing. Use read_file first to see its current contents."
	changedSince     = "Warning: f was modified externally since your last read. Please read_file again before "
)

func TestWriteFileMakesAFileWithItsParents(t *testing.T) {
	p := newPlace(t, nil)
	require.Equal(t, "Successfully wrote to a/b/c.txt (2 lines)\n   1 | x\n   2 | y", p.ok("write_file", map[string]any{"file_path": "a/b/c.txt", "content": "x\ny\n"}))
	require.Equal(t, "x\ny\n", p.file("a/b/c.txt"))

	long := p.ok("write_file", map[string]any{"file_path": "long", "content": lines(35)})
	require.True(t, strings.HasPrefix(long, "Successfully wrote to long (35 lines)\n   1 | line a\n"))
	require.True(t, strings.HasSuffix(long, "\n  30 | line d\n  ... (35 lines total)"), long)

	require.Equal(t, "Successfully wrote to empty (0 lines)", p.ok("write_file", map[string]any{"file_path": "empty", "content": ""}))
}

func TestWriteFileWritesExactlyWhatWasSent(t *testing.T) {
	for name, content := range map[string]string{
		"mixed endings and no final newline": "a\nb\r\nc", "escapes stay two characters": "a\\nb\\tc", "curly quotes": "“ ” ‘ ’ ′ ″ „ « »\n",
		"control characters": "\x1b[0m\x07\n", "emoji": "👨‍👩‍👧‍👦\n", "a BOM in the content": "\ufeffx\n",
	} {
		p := newPlace(t, nil)
		p.ok("write_file", map[string]any{"file_path": "f", "content": content})
		require.Equal(t, content, p.file("f"), name)
	}
}

func TestOverwritingNeedsTheWholeFileToHaveBeenSeen(t *testing.T) {
	overwrite := map[string]any{"file_path": "f", "content": "new\n"}
	for _, row := range []struct {
		name, content string
		before        func(p *place)
		want          string
	}{
		{"never read", "a\n", func(*place) {}, readFirstToWrite},
		{"a search is no read", "a\n", func(p *place) { p.ok("grep_search", map[string]any{"pattern": "a", "path": "f"}) }, readFirstToWrite},
		{"a refused read is none", "\x00", func(p *place) { p.fails("read_file", map[string]any{"file_path": "f"}) }, readFirstToWrite},
		{"bytes that cannot be shown", "\xff", func(*place) {},
			"Error: f holds something that read_file cannot show as text, so it is not overwritten unseen. If it is to be replaced, remove it first."},
		{"read, then replaced by a file moved there", "a\n", func(p *place) {
			p.ok("read_file", map[string]any{"file_path": "f"})
			require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, "g"), []byte("b\n"), 0o644))
			require.NoError(p.t, os.Rename(filepath.Join(p.dir, "g"), filepath.Join(p.dir, "f")))
		}, changedSince + "writing.\nWhat has changed since:\n@@ -1,1 +1,1 @@\n- a\n+ b"},
		{"partly read", lines(200), func(p *place) { p.ok("read_file", map[string]any{"file_path": "f", "limit": 5}) },
			"Error: You have seen only lines 1-5 of 200. Read the rest first, or use edit_file."},
		{"read with a gap", lines(200), func(p *place) {
			p.ok("read_file", map[string]any{"file_path": "f", "limit": 5})
			p.ok("read_file", map[string]any{"file_path": "f", "offset": 10})
		}, "Error: You have seen only lines 1-5, 10-200 of 200. Read the rest first, or use edit_file."},
		{"a line seen in part", strings.Repeat("x", 3000) + "\n", func(p *place) { p.ok("read_file", map[string]any{"file_path": "f"}) },
			"Error: You have seen line 1 of f only in part (it is longer than 2000 characters). Use edit_file, or remove the file and write it anew."},
		{"changed since", "a\nb\n", func(p *place) {
			p.ok("read_file", map[string]any{"file_path": "f"})
			p.write("f", "a\nB\n")
		}, changedSince + "writing.\nWhat has changed since:\n@@ -2,1 +2,1 @@\n- b\n+ B"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": row.content})
			row.before(p)
			before := p.file("f")
			require.Equal(t, row.want, p.fails("write_file", overwrite))
			require.Equal(t, before, p.file("f"))
		})
	}
	t.Run("read in several pages", func(t *testing.T) {
		p := newPlace(t, map[string]string{"f": lines(200)})
		for _, offset := range []int{150, 1, 100} {
			p.ok("read_file", map[string]any{"file_path": "f", "offset": offset, "limit": 100})
		}
		p.ok("write_file", overwrite)
	})
	t.Run("read by a link, written by its target", func(t *testing.T) {
		p := newPlace(t, map[string]string{"f": "a\n"})
		require.NoError(t, os.Symlink("f", filepath.Join(p.dir, "l")))
		p.ok("read_file", map[string]any{"file_path": "l"})
		p.ok("write_file", overwrite)
	})
	t.Run("touched with the same content", func(t *testing.T) {
		p := newPlace(t, map[string]string{"f": "a\n"})
		p.ok("read_file", map[string]any{"file_path": "f"})
		p.write("f", "a\n")
		p.ok("write_file", overwrite)
	})
	t.Run("its own writes are known", func(t *testing.T) {
		p := newPlace(t, nil)
		p.ok("write_file", map[string]any{"file_path": "f", "content": "1\n"})
		p.ok("edit_file", map[string]any{"file_path": "f", "old_string": "1", "new_string": "2"})
		p.ok("write_file", overwrite)
	})
	t.Run("what another session read does not count", func(t *testing.T) {
		p := newPlace(t, map[string]string{"f": "a\n"})
		p.ok("read_file", map[string]any{"file_path": "f"})
		require.Equal(t, readFirstToWrite, p.with(SessionOptions{}).fails("write_file", overwrite))
	})
	t.Run("the other session's change is seen", func(t *testing.T) {
		p := newPlace(t, map[string]string{"f": "a\n"})
		q := p.with(SessionOptions{})
		p.ok("read_file", map[string]any{"file_path": "f"})
		q.ok("read_file", map[string]any{"file_path": "f"})
		q.ok("edit_file", map[string]any{"file_path": "f", "old_string": "a", "new_string": "b"})
		require.Contains(t, p.fails("write_file", overwrite), changedSince)
		require.Equal(t, "b\n", p.file("f"))
	})
}

func TestOverwritingShowsADiffAndKeepsWhatIsTheFiles(t *testing.T) {
	for _, row := range []struct{ name, old, content, file, want string }{
		{"a diff", "a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n", "Successfully wrote to f (3 lines)\n\n@@ -2,1 +2,1 @@\n- b\n+ B"},
		{"a BOM stays", "\ufeffa\n", "b\n", "\ufeffb\n", "Successfully wrote to f (1 line)\n\n@@ -1,1 +1,1 @@\n- a\n+ b"},
		{"a BOM is not doubled", "\ufeffa\n", "\ufeffb\n", "\ufeffb\n", "Successfully wrote to f (1 line)\n\n@@ -1,1 +1,1 @@\n- a\n+ b"},
		{"the encoding stays", "\xff\xfea\x00", "b", "\xff\xfeb\x00", "Successfully wrote to f (1 line)\n\n@@ -1,1 +1,1 @@\n- a\n+ b"},
		{"the same content", "a\n", "a\n", "a\n", "Successfully wrote to f (1 line)\nThe file already had this content; it was not touched."},
		{"emptied", "a\n", "", "", "Successfully wrote to f (0 lines)\n\n@@ -1,1 +0,0 @@\n- a\n[the file is now empty]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": row.old})
			p.ok("read_file", map[string]any{"file_path": "f"})
			require.Equal(t, row.want, p.ok("write_file", map[string]any{"file_path": "f", "content": row.content}))
			require.Equal(t, row.file, p.file("f"))
		})
	}
	t.Run("changed line endings are noted", func(t *testing.T) {
		p := newPlace(t, map[string]string{"f": "a\r\nb\r\n"})
		p.ok("read_file", map[string]any{"file_path": "f"})
		require.Contains(t, p.ok("write_file", map[string]any{"file_path": "f", "content": "a\nc\n"}), "\n[line endings changed from CRLF to LF]")
		require.Equal(t, "a\nc\n", p.file("f"))
	})
	t.Run("line numbers in the content are noted", func(t *testing.T) {
		p := newPlace(t, nil)
		require.Contains(t, p.ok("write_file", map[string]any{"file_path": "f", "content": "   1 | a\n   2 | b\n"}), "every line begins with a line number")
	})
	t.Run("a folder's name is refused", func(t *testing.T) {
		require.Contains(t, newPlace(t, nil).fails("write_file", map[string]any{"file_path": "d/", "content": ""}), "ends in / and so names a folder")
	})
	t.Run("an unknown parameter never overwrites", func(t *testing.T) {
		p := newPlace(t, map[string]string{"f": "a\n"})
		p.ok("read_file", map[string]any{"file_path": "f"})
		require.Contains(t, p.fails("write_file", map[string]any{"file_path": "f", "content": "b\n", "append": true}), `no parameter "append"`)
		require.Equal(t, "a\n", p.file("f"))
	})
}

func TestTheVersionHandleAloneDecides(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "a\nb\n"})
	whole := p.with(SessionOptions{}).call("read_file", map[string]any{"file_path": "f"}).Meta["version"]
	part := p.with(SessionOptions{}).call("read_file", map[string]any{"file_path": "f", "limit": 1}).Meta["version"]
	other := "v1.AAAAAAAAAAAAAAAAAAAAAA"
	write := func(v any) map[string]any { return map[string]any{"file_path": "f", "content": "x\n", "version": v} }
	edit := func(v any) map[string]any {
		return map[string]any{"file_path": "f", "old_string": "a", "new_string": "b", "version": v, "dry_run": true}
	}
	for name, s := range map[string]*place{"without a session": p.with(SessionOptions{Stateless: true}), "in a session": p} {
		t.Run(name, func(t *testing.T) {
			s.ok("edit_file", edit(whole))
			s.ok("edit_file", edit(part))
			require.Equal(t, changedSince+"editing.", s.fails("edit_file", edit(other)))
			require.Equal(t, changedSince+"writing.", s.fails("write_file", write(other)))
			require.Contains(t, s.fails("write_file", write(part)), "You have seen only a part of f")
			text := s.fails("edit_file", edit(other))
			require.NotContains(t, text, whole, "a refusal never tells the present version")
		})
	}
	stateless := p.with(SessionOptions{Stateless: true})
	for _, v := range []any{nil, "", "latest"} {
		require.Contains(t, stateless.fails("edit_file", edit(v)), "You must read this file before editing. Pass the version that read_file returned.")
	}
	require.Contains(t, stateless.fails("edit_file", edit("latest")), "Error: version latest is no version handle.")
	stateless.ok("edit_file", map[string]any{"file_path": "f", "old_string": "a", "new_string": "b", "dry_run": true, "version": fmt.Sprintf(" [version: %v==]\n", whole)})
	require.Equal(t, readFirstToEdit, p.fails("edit_file", edit("latest")), "an invented handle does not count as a read")
	p.ok("read_file", map[string]any{"file_path": "f"})
	require.Contains(t, p.ok("edit_file", edit("latest")), "[ignored version: it is no handle that read_file returned]")
	done := stateless.call("write_file", write(whole))
	require.False(t, done.IsError, done.Text)
	require.Contains(t, done.Text, "[version: "+done.Meta["version"].(string)+"]")
	stateless.ok("edit_file", map[string]any{"file_path": "f", "old_string": "x", "new_string": "y", "version": done.Meta["version"]})
}
