package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// MaxFile is the size in bytes of the largest file that is read whole for a change.
const MaxFile = 1 << 30

// Current is a file as it is while its lock is held.
type Current struct {
	Exists  bool
	Content []byte // must not be changed
	Version Version
	Info    fs.FileInfo
}

// UpdateOptions say what a change may do.
type UpdateOptions struct {
	// Granted: the user allowed writing this guarded name.
	Granted bool
}

// Update replaces the content of the file at p, or makes it with its parents.
//
// It holds the lock of the place over all sessions while it reads the file,
// lets change decide on the new content, and writes: into a temporary file in
// the same directory, flushed, then renamed over the old one after comparing it
// once more with what change saw. At every moment, also at power loss, the name
// holds either the old or the new content. Mode, owner where permitted, ACL and
// user attributes are kept; setuid bits are not.
//
// change gets the present state and returns the new content, or an error that
// ends the update with nothing touched ([ErrUnchanged]: no error of Update).
// Update returns the state it left. Errors: [ErrReadOnly], [ErrGuarded],
// [ErrHardLinks], [ErrIsDir], [NotRegularError], [ErrTooLarge], [ErrChanged], what
// change returned, what the file system says.
func (w *Workspace) Update(ctx context.Context, p Path, o UpdateOptions, change func(Current) ([]byte, error)) (Current, error) {
	switch {
	case p.root.readOnly:
		return Current{}, ErrReadOnly
	case p.rel == ".":
		return Current{}, ErrIsDir
	case !o.Granted && w.IsGuarded(p):
		return Current{}, ErrGuarded
	}
	unlock, err := w.locks.acquire(ctx, p.Key())
	if err != nil {
		return Current{}, err
	}
	defer unlock()

	dir, err := openParent(p)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Current{}, err
	}
	if dir != nil {
		defer dir.Close()
		w.tidied.once(p, dir)
	}
	cur, err := readCurrent(dir, p.Base())
	if err != nil {
		return Current{}, err
	}
	next, err := change(cur)
	if errors.Is(err, ErrUnchanged) {
		return cur, nil
	}
	if err != nil {
		return cur, err
	}
	if dir != nil {
		return replace(ctx, dir, p.Base(), cur, next)
	}
	return w.makeWithParents(ctx, p, cur, next)
}

// makeWithParents makes the missing directories, then the file; if that fails
// it takes the directories away again.
func (w *Workspace) makeWithParents(ctx context.Context, p Path, cur Current, next []byte) (Current, error) {
	dir, made, err := makeParent(p)
	if err == nil {
		var done Current
		done, err = replace(ctx, dir, p.Base(), cur, next)
		dir.Close()
		if err == nil {
			return done, nil
		}
	}
	for i := len(made) - 1; i >= 0; i-- {
		_ = p.root.dir.Remove(made[i]) // fails, rightly, where something else moved in
	}
	return cur, err
}

// openParent opens the directory of p through no link: p has none left, so one
// that stands there now was put there meanwhile. nil and fs.ErrNotExist if it is missing.
func openParent(p Path) (*os.Root, error) {
	dir, err := p.root.dir.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for _, part := range split(dirName(p.rel)) {
		sub, err := subRoot(dir, part)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = sub
	}
	return dir, nil
}

// makeParent is openParent that makes what is missing, and names what it made.
func makeParent(p Path) (*os.Root, []string, error) {
	dir, err := p.root.dir.OpenRoot(".")
	if err != nil {
		return nil, nil, err
	}
	var made, at []string
	for _, part := range split(dirName(p.rel)) {
		at = append(at, part)
		err := dir.Mkdir(part, 0o777)
		if err == nil {
			made = append(made, join(at))
		} else if !errors.Is(err, fs.ErrExist) {
			dir.Close()
			return nil, made, err
		}
		sub, err := subRoot(dir, part)
		dir.Close()
		if err != nil {
			return nil, made, err
		}
		dir = sub
	}
	return dir, made, nil
}

// readCurrent reads the file called base, if there is one.
func readCurrent(dir *os.Root, base string) (Current, error) {
	if dir == nil {
		return Current{}, nil
	}
	info, err := dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Current{}, nil
	case err != nil:
		return Current{}, err
	case info.IsDir():
		return Current{}, ErrIsDir
	case !info.Mode().IsRegular():
		return Current{}, &NotRegularError{Mode: info.Mode()}
	}
	f, info, err := openRegular(dir, base)
	if err != nil {
		return Current{}, err
	}
	defer f.Close()
	switch {
	case identityOf(info).nlink > 1:
		return Current{}, ErrHardLinks
	case info.Size() > MaxFile:
		return Current{}, ErrTooLarge
	}
	content, err := readAll(f, info.Size())
	if err != nil {
		return Current{}, err
	}
	cur := Current{Exists: true, Content: content, Info: info, Version: VersionOf(content)}
	if len(content) > MaxHashed {
		cur.Version = statVersion(info)
	}
	return cur, nil
}

// readAll reads f, which is expected to hold size bytes, up to MaxFile.
func readAll(f *os.File, size int64) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	n, err := buf.ReadFrom(io.LimitReader(f, MaxFile+1))
	if err == nil && n > MaxFile {
		err = ErrTooLarge
	}
	return buf.Bytes(), err
}

// replace puts next where cur was, or where nothing was.
func replace(ctx context.Context, dir *os.Root, base string, cur Current, next []byte) (Current, error) {
	if cur.Exists {
		if err := mayWrite(dir, base); err != nil {
			return cur, err
		}
	}
	tmp, err := newTemp(dir)
	if err != nil {
		return cur, err
	}
	defer tmp.discard()
	if err := tmp.fill(next, cur); err != nil {
		return cur, err
	}
	if err := ctx.Err(); err != nil {
		return cur, context.Cause(ctx)
	}
	h, err := openDirHandle(dir)
	if err != nil {
		return cur, err
	}
	defer h.close()
	readyToRename(tmp.f)
	unlock := h.lock(ctx) // against other processes of ours
	err = commit(dir, h, tmp, base, cur)
	unlock()
	if err != nil {
		return cur, err
	}
	h.sync()
	info, err := dir.Lstat(base)
	if err != nil {
		return cur, err
	}
	done := Current{Exists: true, Content: next, Info: info, Version: VersionOf(next)}
	if len(next) > MaxHashed {
		done.Version = statVersion(info)
	}
	return done, nil
}

// commit compares the file with cur a last time and gives tmp its name.
func commit(dir *os.Root, h *dirHandle, tmp *tempFile, base string, cur Current) error {
	if !cur.Exists {
		err := h.renameNew(dir, tmp.name, base)
		if errors.Is(err, fs.ErrExist) {
			return ErrChanged
		}
		if err == nil {
			tmp.gone = true
		}
		return err
	}
	same, err := stillHolds(dir, base, cur)
	if err != nil {
		return err
	}
	if !same {
		return ErrChanged
	}
	if err := dir.Rename(tmp.name, base); err != nil {
		return err
	}
	tmp.gone = true
	return nil
}

// stillHolds compares the file called base with cur, byte for byte.
func stillHolds(dir *os.Root, base string, cur Current) (bool, error) {
	f, info, err := openRegular(dir, base)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if info.Size() != int64(len(cur.Content)) || info.Mode() != cur.Info.Mode() || identityOf(info).nlink > 1 {
		return false, nil
	}
	return sameBytes(f, cur.Content)
}

func sameBytes(r io.Reader, want []byte) (bool, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > len(want) || !bytes.Equal(buf[:n], want[:n]) {
			return false, nil
		}
		want = want[n:]
		if err == io.EOF {
			return len(want) == 0, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// mayWrite asks the file system whether the file may be written: a rename would
// replace a file that its owner has made read-only.
func mayWrite(dir *os.Root, base string) error {
	f, err := dir.OpenFile(base, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ETXTBSY) { // a running program may be replaced
		return nil
	}
	if err != nil {
		return escapeOr(err)
	}
	return f.Close()
}
