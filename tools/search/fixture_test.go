package search

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

// tree makes files in a fresh folder. A path that ends in "/" is a folder, a
// text that begins with "->" a link.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(full, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		if target, ok := strings.CutPrefix(text, "->"); ok {
			require.NoError(t, os.Symlink(target, full))
			continue
		}
		require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
	}
	return root
}

// open opens a folder as the root of a scope for the time of the test.
func open(t testing.TB, root string) *sandbox.Dir {
	t.Helper()
	dir, err := sandbox.OpenDir(root)
	require.NoError(t, err)
	t.Cleanup(func() { dir.Close() })
	return dir
}

// names makes files that hold nothing.
func names(list ...string) map[string]string {
	out := map[string]string{}
	for _, name := range list {
		out[name] = ""
	}
	return out
}

func with(files map[string]string, more ...string) map[string]string {
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

// paths lists what a walk visits.
func paths(t testing.TB, s Scope) ([]string, Skipped) {
	t.Helper()
	var out []string
	skipped, err := Walk(context.Background(), s, func(f File) error {
		out = append(out, f.Path)
		return nil
	})
	require.NoError(t, err)
	return out, skipped
}

func list(t testing.TB, s Scope, q ListQuery) []string {
	t.Helper()
	got, err := List(context.Background(), s, q)
	require.NoError(t, err)
	var out []string
	for _, f := range got.Files {
		out = append(out, f.Path)
	}
	return out
}
