package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPreimageIsFoundByItsIDOnly(t *testing.T) {
	st := OpenState(filepath.Join(t.TempDir(), "state"))
	_, err := st.Preimage("AAAAAAAAAAAAAAAA")
	assert.ErrorIs(t, err, ErrNoPreimage)
	_, err = st.Content(Preimage{ID: "AAAAAAAAAAAAAAAA"})
	assert.ErrorIs(t, err, ErrNoPreimage)
	_, err = os.Stat(st.dir)
	assert.ErrorIs(t, err, fs.ErrNotExist, "looking makes nothing")

	was := VersionOf([]byte("before\x00"))
	k, err := st.KeepContent([]byte("before\x00"), was)
	require.NoError(t, err)
	_, err = st.Preimage(k.id)
	assert.ErrorIs(t, err, ErrNoPreimage, "the change was not made yet")
	kept, err := k.Commit(Preimage{Path: "/w/a", Existed: true, Left: "v1.x", Tool: "edit_file", Time: time.Unix(5, 0).UTC()})
	require.NoError(t, err)
	id := kept.ID
	p, err := st.Preimage(id)
	require.NoError(t, err)
	assert.Equal(t, kept, p)
	assert.Equal(t, Preimage{ID: id, Path: "/w/a", Existed: true, Was: was, Size: 7, Left: "v1.x", Tool: "edit_file", Time: time.Unix(5, 0).UTC()}, p)
	content, err := OpenState(st.dir).Content(p)
	require.NoError(t, err)
	assert.Equal(t, "before\x00", string(content), "also after a restart")

	require.NoError(t, os.WriteFile(filepath.Join(st.dir, "undo", "undo-"+id+".before"), []byte("bef"), 0o600))
	_, err = st.Content(p)
	assert.ErrorIs(t, err, ErrDamaged, "cut by a loss of power")

	for _, bad := range []string{"", strings.ToLower(id), id + "A", "../undo-" + id, id[:15], "*"} {
		_, err := st.Preimage(bad)
		assert.ErrorIs(t, err, ErrNoPreimage, bad)
		_, err = st.Content(Preimage{ID: bad})
		assert.ErrorIs(t, err, ErrNoPreimage, bad)
	}
}

func TestPreimagesAreForTheirOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "undo"), 0o777))
	require.NoError(t, os.Chmod(filepath.Join(dir, "undo"), 0o777))
	k, err := OpenState(dir).KeepContent([]byte("secret"), "")
	require.NoError(t, err)
	_, err = k.Commit(Preimage{})
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "undo"), func(path string, d fs.DirEntry, err error) error {
		info, infoErr := d.Info()
		require.NoError(t, infoErr)
		assert.Zero(t, info.Mode().Perm()&0o077, path)
		return err
	}))
}

func TestADiscardedPreimageLeavesNothing(t *testing.T) {
	st := OpenState(t.TempDir())
	k, err := st.KeepContent([]byte("x"), "")
	require.NoError(t, err)
	k.Discard()
	assert.Empty(t, names(t, filepath.Join(st.dir, "undo")))
}

func TestPreimagesThatAreTooLargeAreNotKept(t *testing.T) {
	_, err := OpenState(t.TempDir()).KeepContent(make([]byte, MaxPreimage+1), "")
	assert.ErrorContains(t, err, "are more than the 67108864 that are kept")
}

func TestOldPreimagesGoFirst(t *testing.T) {
	dir := t.TempDir()
	r, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer r.Close()
	now := time.Now()
	put := func(name string, size int, age time.Duration) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), now.Add(-age), now.Add(-age)))
	}
	name := func(i int) string { return fmt.Sprintf("undo-AAAAAAAAAAAAAAA%c.before", 'A'+i) }
	put(name(0), 10, 8*24*time.Hour)
	put(name(1), 60, 3*time.Hour)
	put(name(2), 30, 2*time.Hour)
	put(name(3), 30, time.Hour)
	put("other", 1000, 30*24*time.Hour)
	sweepPreimages(r, now, 100)
	assert.Equal(t, []string{"other", name(2), name(3)}, names(t, dir), "too old, and over the quota; what is not ours stays")
}

func TestUpdateRemoves(t *testing.T) {
	w, dir, _ := newPlace(t, []string{"a"})
	file := filepath.Join(dir, "a")
	remove := func(Current) (Parts, error) { return nil, ErrRemove }
	done, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, remove)
	require.NoError(t, err)
	assert.False(t, done.Exists)
	assert.NoFileExists(t, file)

	_, err = w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, remove)
	assert.ErrorIs(t, err, ErrRemove, "there is nothing to remove")

	// Changed after it was looked at: it stays.
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	_, err = w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, func(Current) (Parts, error) {
		return nil, func() error { require.NoError(t, os.WriteFile(file, []byte("y"), 0o600)); return ErrRemove }()
	})
	assert.ErrorIs(t, err, ErrChanged)
	assert.FileExists(t, file)
}
