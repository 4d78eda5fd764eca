//go:build unix

package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// makeSpecials makes a FIFO and a socket in dir.
func makeSpecials(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	t.Chdir(dir) // the path of a socket must be short
	l, err := net.Listen("unix", "socket")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close(); os.Remove(filepath.Join(dir, "socket")) })
}
