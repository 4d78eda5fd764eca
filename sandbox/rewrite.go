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

// A rewrite puts next where old was, or where nothing was.
type rewrite struct {
	dir  *os.Root
	base string
	old  *original
	next Parts
	o    UpdateOptions
}

func (r *rewrite) run(ctx context.Context) (Current, error) {
	if r.old.Exists {
		if err := r.mayWrite(); err != nil {
			return r.old.Current, err
		}
	}
	tmp, err := newTemp(r.dir, r.old.Exists)
	if err != nil {
		return r.old.Current, err
	}
	defer tmp.discard()
	hashed := r.next.hash()
	notes, err := tmp.fill(ctx, r.next, r.old)
	if err != nil {
		return r.old.Current, err
	}
	h, err := openDirHandle(r.dir)
	if err != nil {
		return r.old.Current, err
	}
	defer h.close()
	if err := r.o.ready(ctx); err != nil {
		return r.old.Current, err
	}
	if err := r.commit(ctx, h, tmp); err != nil {
		return r.old.Current, err
	}
	err = flushDir(h)
	info := tmp.infoAs(r.base)
	done := Current{Exists: true, Info: info, Version: <-hashed, Notes: notes}
	if done.Version == "" {
		done.Version = statVersion(info)
	}
	if err != nil {
		return done, notDurable(err)
	}
	return done, nil
}

// notDurable is an [ErrNotDurable] for a reason that is only told: to callers a
// wrapped "disk full" would mean that nothing was written.
func notDurable(reason error) error { return &notDurableError{plain(reason)} }

type notDurableError struct{ reason error }

func (e *notDurableError) Error() string { return ErrNotDurable.Error() + ": " + e.reason.Error() }
func (e *notDurableError) Unwrap() error { return ErrNotDurable }

// commit compares the file with old a last time and gives tmp its name, with
// other processes of ours kept out.
func (r *rewrite) commit(ctx context.Context, h *dirHandle, tmp *tempFile) error {
	unlock, err := h.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if r.old.Exists {
		same, err := r.isUntouched(ctx)
		if err != nil {
			return err
		}
		if !same {
			return ErrChanged
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	readyToRename(tmp.f, r.old.f)
	if r.old.Exists {
		err = r.dir.Rename(tmp.name, r.base)
	} else if err = h.renameNew(r.dir, tmp.name, r.base); errors.Is(err, fs.ErrExist) {
		return ErrChanged
	}
	tmp.gone = err == nil
	return err
}

// remove takes the file away, if it is still old.
func (r *rewrite) remove(ctx context.Context) (Current, error) {
	if err := r.mayWrite(); err != nil {
		return r.old.Current, err
	}
	if err := r.o.ready(ctx); err != nil {
		return r.old.Current, err
	}
	h, err := openDirHandle(r.dir)
	if err != nil {
		return r.old.Current, err
	}
	defer h.close()
	unlock, err := h.lock(ctx)
	if err != nil {
		return r.old.Current, err
	}
	defer unlock()
	same, err := r.isUntouched(ctx)
	switch {
	case err != nil:
		return r.old.Current, err
	case !same:
		return r.old.Current, ErrChanged
	case ctx.Err() != nil:
		return r.old.Current, context.Cause(ctx)
	}
	if err := r.dir.Remove(r.base); err != nil {
		return r.old.Current, err
	}
	if err := flushDir(h); err != nil {
		return Current{}, notDurable(err)
	}
	return Current{}, nil
}

// isUntouched compares the file with old: its content byte for byte, and what
// the new file takes over from it.
func (r *rewrite) isUntouched(ctx context.Context) (bool, error) {
	f, info, err := openRegular(r.dir, r.base)
	var odd *NotRegularError
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrIsDir) || errors.As(err, &odd) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	was, is := identityOf(r.old.Info), identityOf(info)
	if info.Size() != int64(len(r.old.Content)) || info.Mode() != r.old.Info.Mode() ||
		is.uid != was.uid || is.gid != was.gid || is.nlink > 1 {
		return false, nil
	}
	acl, err := readACL(f)
	if err != nil || !bytes.Equal(acl, r.old.acl) {
		return false, err
	}
	return sameBytes(ctx, f, r.old.Content)
}

func sameBytes(ctx context.Context, r io.Reader, want []byte) (bool, error) {
	buf := make([]byte, min(chunk, len(want)+1))
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
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
func (r *rewrite) mayWrite() error {
	f, err := r.dir.OpenFile(r.base, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ETXTBSY) { // a running program may be replaced
		return nil
	}
	var info fs.FileInfo
	if err == nil {
		defer f.Close()
		info, _ = f.Stat()
	} else {
		info, _ = r.dir.Lstat(r.base)
	}
	if !os.SameFile(info, r.old.Info) {
		return ErrChanged
	}
	return escapeOr(err)
}
