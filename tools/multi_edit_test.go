package tools

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func pairs(oldNew ...string) []map[string]any {
	var out []map[string]any
	for i := 0; i < len(oldNew); i += 2 {
		out = append(out, map[string]any{"old_string": oldNew[i], "new_string": oldNew[i+1]})
	}
	return out
}

func TestMultiEditMakesAllEditsAgainstTheOriginalText(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "one\r\ntwo\r\nthree ‘x’\r\n"})
	p.ok("read_file", map[string]any{"file_path": "f"})
	got := p.ok("multi_edit", map[string]any{"file_path": "f", "edits": pairs("one", "two", "two\n", "one\n", "'x'", "'y'")})
	require.Equal(t, "two\r\none\r\nthree ‘y’\r\n", p.file("f"))
	require.Contains(t, got, "Successfully edited f (matched via ")
	require.Contains(t, got, "[3 places changed]")
	p.ok("multi_edit", map[string]any{"file_path": "f", "edits": pairs("two", "2")}) // what it changed need not be read again
}

func TestMultiEditMakesAllOrNone(t *testing.T) {
	for _, row := range []struct {
		why   string
		edits any
		says  string
	}{
		{"one is not there", pairs("one", "1", "nine", "9"), "Error: edit 2 of 2: old_string not found in f"},
		{"one is there twice", pairs("two", "2", "o", "0"), "Error: edit 2 of 2: old_string found 2 times in f"},
		{"two change the same", pairs("one two", "1 two", "one", "eins"), "Error: edits 1 and 2 both change line 1 of f."},
		{"one changes nothing", pairs("one", "1", "two", "two"), "Error: old_string and new_string of edit 2 are identical"},
		{"one has nothing to look for", pairs("one", "1", "", "two"), "Error: old_string of edit 2 is empty"},
		{"there are none", []any{}, "Error: edits is empty"},
		{"one has no new_string", []any{map[string]any{"old_string": "one"}}, "Error: edits[0].new_string is missing"},
	} {
		t.Run(row.why, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": "one two\n"})
			p.ok("read_file", map[string]any{"file_path": "f"})
			require.Contains(t, p.fails("multi_edit", map[string]any{"file_path": "f", "edits": row.edits}), row.says)
			require.Equal(t, "one two\n", p.file("f"))
		})
	}
}

func TestMultiEditNeedsTheFileToBeRead(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "one two\n"})
	args := map[string]any{"file_path": "f", "edits": pairs("one", "1", "two", "2")}
	require.Contains(t, p.fails("multi_edit", args), "You must read this file before editing")
	args["dry_run"] = true
	p.ok("read_file", map[string]any{"file_path": "f"})
	require.Contains(t, p.ok("multi_edit", args), "Dry run: nothing was written")
	p.write("f", "one two!\n")
	delete(args, "dry_run")
	require.Contains(t, p.fails("multi_edit", args), "modified externally")
	require.Equal(t, "one two!\n", p.file("f"))
}
