package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inMemory makes the folders of a benchmark lie where a write costs no disk, so
// that what is measured is ours. Elsewhere than on Linux they lie on the disk.
func inMemory(b *testing.B) {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		dir, err := os.MkdirTemp("/dev/shm", "mcp-tools-bench")
		require.NoError(b, err)
		b.Cleanup(func() { os.RemoveAll(dir) })
		b.Setenv("TMPDIR", dir)
	}
}

// BenchmarkEdit is one edit_file of a file of 10 MB through all stages: the version
// that was read compared by its hash, the file replaced whole.
func BenchmarkEdit(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 10<<20; i++ {
		fmt.Fprintf(&text, "\tif value_%d, err := load(\"name %d\"); err != nil { return it's - %d }\n", i, i, i%97)
	}
	for _, bb := range []struct{ name, text string }{
		{"exact", text.String()},
		{"quotes", strings.ReplaceAll(text.String(), "\"", "”")},
	} {
		b.Run(bb.name, func(b *testing.B) {
			inMemory(b)
			p := newPlace(b, map[string]string{"f.txt": bb.text})
			p.ok("read_file", map[string]any{"file_path": "f.txt"})
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.text)))
			names := [2]string{"name 70000", "nome 70000"}
			for i := 0; b.Loop(); i++ {
				p.ok("edit_file", map[string]any{"file_path": "f.txt",
					"old_string": "load(\"" + names[i%2] + "\")", "new_string": "load(\"" + names[(i+1)%2] + "\")"})
			}
		})
	}
}

// BenchmarkReadHuge is the first page of a file of 10 GB, most of it a hole.
func BenchmarkReadHuge(b *testing.B) {
	p := newPlace(b, map[string]string{"f.txt": strings.Repeat("a line of text\n", 5000)})
	require.NoError(b, os.Truncate(filepath.Join(p.dir, "f.txt"), 10<<30))
	b.ReportAllocs()
	for b.Loop() {
		p.ok("read_file", map[string]any{"file_path": "f.txt", "limit": 50})
	}
}
