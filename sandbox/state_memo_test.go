package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemosAreKeptBoundedAndPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	st := OpenState(dir)
	_, err := st.Memo("servers-1")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoDirExists(t, dir, "reading makes nothing")

	require.NoError(t, st.SetMemo("servers-1", []byte("one")))
	require.NoError(t, st.SetMemo("servers-1", []byte("two")))
	got, err := OpenState(dir).Memo("servers-1")
	require.NoError(t, err)
	assert.Equal(t, "two", string(got))
	info, err := os.Stat(filepath.Join(dir, "memos", "servers-1.json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Join(dir, "memos"))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")

	for _, name := range []string{"", "../x", "A", "a/b", strings.Repeat("a", 81)} {
		require.Error(t, st.SetMemo(name, nil), name)
		_, err := st.Memo(name)
		require.Error(t, err, name)
	}
	require.Error(t, st.SetMemo("long", make([]byte, maxMemo+1)))

	old := time.Now().Add(-keepMemos - time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "memos", "servers-1.json"), old, old))
	require.NoError(t, st.SetMemo("servers-2", nil))
	_, err = st.Memo("servers-1")
	require.ErrorIs(t, err, os.ErrNotExist, "what nobody has written for long is swept")
}
