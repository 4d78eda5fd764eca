package tools

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMissSaysWhereTheTextStands(t *testing.T) {
	p := newPlace(t, map[string]string{"a.go": "func one() {}\n", "b.go": "func other() {}\n"})
	p.edited("a.go", "func one() {}", "func first() {}")
	edit := func(old string) string {
		return p.fails("edit_file", map[string]any{"file_path": "a.go", "old_string": old, "new_string": "x"})
	}
	require.Contains(t, edit("func one() {}"), "That text stood there before your edit_file at ")
	require.NotContains(t, edit("func other() {}"), "b.go", "it was not read, so nothing is known of it")
	p.ok("read_file", map[string]any{"file_path": "b.go"})
	require.Contains(t, edit("func other() {}"), "That text stands in b.go: is that the file you mean?")
	require.NotContains(t, edit("other"), "b.go", "too little to tell anything")
	require.NotContains(t, edit("func nobody() {}"), "That text")
	multi := p.fails("multi_edit", map[string]any{"file_path": "a.go", "edits": pairs("first", "1st", "func other() {}", "x")})
	require.Contains(t, multi, "edit 2 of 2: old_string not found in a.go\nThat text stands in b.go")
}
