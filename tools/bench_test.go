package tools

import (
	"bytes"
	"crypto/sha256"
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
	curly := strings.ReplaceAll(text.String(), "\"", "”")
	for _, bb := range []struct{ name, text, quote string }{
		{"exact", text.String(), "\""},
		{"exact among curly quotes", curly, "”"},
		{"quotes folded", curly, "\""},
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
					"old_string": "load(" + bb.quote + names[i%2] + bb.quote + ")", "new_string": "load(" + bb.quote + names[(i+1)%2] + bb.quote + ")"})
			}
		})
	}
}

// BenchmarkEditLimit is what no such edit can do without, one after the other: the
// file read and hashed, kept for undo, the new one hashed and written, the old one
// compared before the rename.
func BenchmarkEditLimit(b *testing.B) {
	inMemory(b)
	dir := b.TempDir()
	name := filepath.Join(dir, "f")
	require.NoError(b, os.WriteFile(name, []byte(strings.Repeat("a line of a file\n", 10<<20/17)), 0o600))
	b.SetBytes(10 << 20)
	for b.Loop() {
		content, err := os.ReadFile(name)
		require.NoError(b, err)
		sum := sha256.Sum256(content)
		require.NoError(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%x", sum[:4])), content, 0o600))
		sha256.Sum256(content)
		require.NoError(b, os.WriteFile(name+".new", content, 0o600))
		again, err := os.ReadFile(name)
		require.NoError(b, err)
		require.True(b, bytes.Equal(content, again))
		require.NoError(b, os.Rename(name+".new", name))
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
