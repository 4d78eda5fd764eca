package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDirShowsItsEntriesEachTime(t *testing.T) {
	dir := t.TempDir()
	layout(t, dir, "", []string{"a", "d/x", ".mcp-tools-AAAAAAAAAAAAAAAAAAAAAAAAAA.tmp"})
	d, err := OpenDir(dir)
	require.NoError(t, err)
	defer d.Close()
	sub, err := d.Sub("d")
	require.NoError(t, err)
	defer sub.Close()
	for range 2 {
		list, err := d.Entries()
		require.NoError(t, err)
		sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
		require.Equal(t, []Entry{{Name: "a"}, {Name: "d", Mode: fs.ModeDir}}, list, "without a write in progress")
		list, err = sub.Entries()
		require.NoError(t, err)
		require.Len(t, list, 1)
	}
	for _, name := range []string{"", ".", "..", "d/x", "/a", "a\x00"} {
		_, _, err := d.Open(name)
		require.ErrorIs(t, err, fs.ErrInvalid, "%q", name)
	}
}

func TestNamesNeedNotBeUTF8(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems refuse such names")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad\xff.txt"), []byte("x"), 0o644))
	d, err := OpenDir(dir)
	require.NoError(t, err)
	defer d.Close()
	f, info, err := d.Open("bad\xff.txt")
	require.NoError(t, err)
	f.Close()
	require.EqualValues(t, 1, info.Size())
	st, err := d.Stat("bad\xff.txt")
	require.NoError(t, err)
	require.EqualValues(t, 1, st.Size)
}
