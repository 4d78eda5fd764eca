package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

const (
	// maxMemo is how many bytes a memo may have, keepMemos how long it is kept after
	// it was last written, and maxMemos how many bytes of them there may be.
	maxMemo   = 4 << 20
	keepMemos = 30 * 24 * time.Hour
	maxMemos  = 64 << 20
)

var (
	memoName = regexp.MustCompile(`^[a-z0-9-]{1,80}\.json$`)
	memoTemp = regexp.MustCompile(`^\.new-[A-Z2-7]{26}$`)
)

// Memo reads what SetMemo has kept under a name. It makes nothing.
func (st *State) Memo(name string) ([]byte, error) {
	if st == nil || !memoName.MatchString(name+".json") {
		return nil, os.ErrNotExist
	}
	r, err := os.OpenRoot(st.memosDir())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := r.Open(name + ".json")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxMemo {
		return nil, errors.New("it is none of ours")
	}
	return io.ReadAll(io.LimitReader(f, maxMemo))
}

// SetMemo keeps what can be found out again and is wanted sooner: it may be gone at
// any time. The name has lower-case letters, digits and "-". Who reads it sees one
// whole writing of it.
func (st *State) SetMemo(name string, data []byte) error {
	switch {
	case st == nil:
		return errors.New("there is no state directory")
	case !memoName.MatchString(name + ".json"):
		return fmt.Errorf("%q cannot be the name of a memo", name)
	case len(data) > maxMemo:
		return fmt.Errorf("a memo of %d bytes is too long", len(data))
	}
	if err := os.MkdirAll(st.memosDir(), 0o700); err != nil {
		return err
	}
	r, err := os.OpenRoot(st.memosDir())
	if err != nil {
		return err
	}
	defer r.Close()
	if err := keepPrivate(r); err != nil {
		return err
	}
	sweepOld(r, memoName, time.Now(), keepMemos, maxMemos)
	sweepOld(r, memoTemp, time.Now(), time.Hour, maxMemos) // of writers that were killed
	temp := ".new-" + rand.Text()
	f, err := r.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = r.Remove(temp)
		return err
	}
	if err := r.Rename(temp, name+".json"); err != nil {
		_ = r.Remove(temp)
		return err
	}
	return nil
}

func (st *State) memosDir() string { return filepath.Join(st.dir, "memos") }
