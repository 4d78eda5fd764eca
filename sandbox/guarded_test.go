package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A folder that git takes for a repository runs what its configuration names,
// whatever the folder is called; one must not be made piece by piece.
func TestARepositoryByAnotherNameIsGuarded(t *testing.T) {
	w, _, _ := newPlace(t, []string{"bare/HEAD", "bare/objects/", "src/config"})
	for name, guarded := range map[string]bool{
		"lib/HEAD": true, "HEAD": true, "lib/head": true,
		"bare/config": true, "bare/hooks/pre-commit": true, "bare/x/config": false, "bare/commondir": true, "bare/config.worktree": true, "bare/worktrees/a/commondir": true, "bare/info/attributes": true, "bare/refs/heads/x": false,
		"src/config": false, "src/hooks/use.ts": false, "lib/HEAD.md": false,
	} {
		require.Equal(t, guarded, w.IsGuarded(resolved(t, w, name)), name)
	}
}

func TestRootsOfAClientThatAreGoneAreLeftOut(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a b"), 0o755))
	w, err := OpenRootURIs([]string{"http://x/", "file:///nonexistent", toURI(filepath.Join(dir, "a b"))}, Options{})
	require.NoError(t, err)
	defer w.Close()
	require.Equal(t, []RootInfo{{Dir: filepath.Join(dir, "a b")}}, w.Roots())
	_, err = OpenRootURIs([]string{"file:///nonexistent"}, Options{})
	require.ErrorContains(t, err, "/nonexistent")
	_, err = OpenRootURIs([]string{"http://x/"}, Options{})
	require.Error(t, err)
}
