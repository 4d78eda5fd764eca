package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The kernel's limit on the size of a file stands for a disk that fills up in
// the middle of a write.
func TestAFullDiskLeavesTheOldFile(t *testing.T) {
	if os.Getenv("MCP_TOOLS_TEST_LIMIT") == "" {
		// The limit holds for the whole process, so this test has one of its own.
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "MCP_TOOLS_TEST_LIMIT=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	w, ws, _ := newPlace(t, []string{"a"})
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: old.Max}))
	for _, file := range []string{"a", "d/new"} {
		_, err := w.Update(context.Background(), resolved(t, w, file), UpdateOptions{}, put(strings.Repeat("x", 2<<20)))
		require.ErrorIs(t, err, syscall.EFBIG)
	}
	assertFile(t, filepath.Join(ws, "a"), "a")
	require.Equal(t, []string{"a"}, names(t, ws), "neither a temporary file nor the new folder stays")
}
