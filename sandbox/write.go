package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// MaxFile is the size in bytes of the largest file that is read whole for a change.
const MaxFile = 1 << 30

var (
	// ErrBusy: another program held the lock of the file's folder for too long.
	ErrBusy = errors.New("another program holds the folder's lock")
	// ErrNotDurable: the content was written and is there, but the disk failed
	// to make that last.
	ErrNotDurable = errors.New("the content was written but may not survive a power loss")
	// ErrRemove, returned by the function that decides on the new content, makes
	// the update remove the file.
	ErrRemove = errors.New("remove the file")
)

// Current is a file as it is while its lock is held.
type Current struct {
	Exists  bool
	Content []byte // must not be changed; of what an update has written, nil
	Version Version
	Info    fs.FileInfo
	// Notes say, in words for a person, what of the old file a write could not
	// keep. Only what Update returns has any.
	Notes []string
}

// UpdateOptions say what a change may do.
type UpdateOptions struct {
	// Granted: the user allowed writing this guarded name.
	Granted bool
	// Before, if not nil, is called under the lock when it is known what lies at
	// the place and that it may be read, but before any of it is read: the moment
	// to refuse a large file. info is nil where there is no file. An error ends the
	// update with nothing touched, and Update returns it.
	Before func(info fs.FileInfo, exists bool) error
	// Ready, if not nil, is waited for when all is done but to put the new file in
	// place of the old one, or to remove it. An error ends the update with nothing
	// touched, and Update returns it.
	Ready func(context.Context) error
}

// ready waits for what must be done before the file changes.
func (o UpdateOptions) ready(ctx context.Context) error {
	if o.Ready == nil {
		return nil
	}
	return o.Ready(ctx)
}

// writing has one lock per place of this machine, for all workspaces of the
// process: roots of different sessions may be the same folder, or overlap.
var writing pathLocks

// Settle waits for the updates of p that were begun before it, in this process. A
// reader that has settled sees what they did: whoever cut off a write and looks
// whether it happened must not be told no, and have it happen after that. Its
// error is the cause of ctx.
func (w *Workspace) Settle(ctx context.Context, p Path) error {
	return writing.settle(ctx, p.Host())
}

// Update replaces the content of the file at p, or makes it with its parents.
//
// It holds the lock of the place over all sessions while it reads the file,
// lets change decide on the new content, and writes: into a temporary file in
// the same directory, flushed, then renamed over the old one after comparing it
// once more with what change saw. At every moment, also at power loss, the name
// holds either the old or the new content. Mode, owner and group where permitted
// (see [Current].Notes), and on Linux ACL and user attributes, are kept; setuid
// bits are not. A new file gets the permissions of any program's new file.
//
// Other processes of ours are kept out for the moment of the rename only (not
// on Windows): when one was faster, the error is [ErrChanged].
//
// change gets the present state and returns the new content, or an error that
// ends the update with nothing touched ([ErrUnchanged]: no error of Update), or
// [ErrRemove].
// Update returns the state it left. Errors: [ErrReadOnly], [ErrGuarded],
// [ErrHardLinks], [ErrIsDir], [NotRegularError], [ErrTooLarge], [ErrChanged],
// [ErrBusy], the cause of ctx, what Before and change returned, what the file
// system says. Nothing was changed then, except with [ErrNotDurable], which
// comes with the new state.
func (w *Workspace) Update(ctx context.Context, p Path, o UpdateOptions, change func(Current) (Parts, error)) (Current, error) {
	switch {
	case p.root.readOnly:
		return Current{}, ErrReadOnly
	case p.rel == ".":
		return Current{}, ErrIsDir
	case !o.Granted && w.IsGuarded(p):
		return Current{}, ErrGuarded
	}
	unlock, err := writing.acquire(ctx, p.Host())
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
		w.tidied.tidy(p, dir)
	}
	old, err := openOriginal(dir, p.Base())
	if err != nil {
		return Current{}, err
	}
	defer old.close()
	if o.Before != nil {
		if err := o.Before(old.Info, old.Exists); err != nil {
			return old.Current, err
		}
	}
	if err := old.read(ctx); err != nil {
		return Current{}, err
	}
	next, err := change(old.Current)
	if errors.Is(err, ErrUnchanged) {
		return old.Current, nil
	}
	if errors.Is(err, ErrRemove) && old.Exists {
		return (&rewrite{dir, p.Base(), old, nil, o}).remove(ctx)
	}
	if err != nil {
		return old.Current, err
	}
	if dir != nil {
		return (&rewrite{dir, p.Base(), old, next, o}).run(ctx)
	}
	return makeWithParents(ctx, p, next, o)
}

// makeWithParents makes the missing directories, then the file; if that fails
// it takes the directories away again.
func makeWithParents(ctx context.Context, p Path, next Parts, o UpdateOptions) (Current, error) {
	dir, made, err := makeParent(p)
	if err == nil {
		var done Current
		done, err = (&rewrite{dir, p.Base(), &original{}, next, o}).run(ctx)
		dir.Close()
		if err == nil || errors.Is(err, ErrNotDurable) {
			return done, err
		}
	}
	for _, name := range slices.Backward(made) {
		if info, err := p.root.dir.Lstat(name); err == nil && info.IsDir() {
			_ = p.root.dir.Remove(name) // fails, rightly, where something else moved in
		}
	}
	return Current{}, err
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
// What it made is safe on the disk: each new name is flushed.
func makeParent(p Path) (*os.Root, []string, error) {
	dir, err := p.root.dir.OpenRoot(".")
	if err != nil {
		return nil, nil, err
	}
	var made, at []string
	for _, part := range split(dirName(p.rel)) {
		at = append(at, part)
		isNew, sub, err := makeSub(dir, part)
		if isNew {
			made = append(made, join(at))
		}
		dir.Close()
		if err != nil {
			return nil, made, err
		}
		dir = sub
	}
	return dir, made, nil
}

// makeSub opens the directory called name in dir, made if there is none.
func makeSub(dir *os.Root, name string) (isNew bool, sub *os.Root, err error) {
	err = dir.Mkdir(name, 0o777)
	isNew = err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, nil, err
	}
	if isNew {
		if err := flushRoot(dir); err != nil {
			return true, nil, err
		}
	}
	sub, err = subRoot(dir, name)
	return isNew, sub, err
}

// flushDir makes the names in a directory last. It is replaced by tests: no disk
// fails on demand.
var flushDir = (*dirHandle).sync

func flushRoot(dir *os.Root) error {
	h, err := openDirHandle(dir)
	if err != nil {
		return err
	}
	defer h.close()
	return flushDir(h)
}

// original is the file that an update replaces: what its caller sees of it, and
// what the new file keeps. Without a file it is empty.
type original struct {
	Current
	f   *os.File // the very file that Info and Content are of
	acl []byte   // nil: none but the mode
}

// openOriginal opens the file called base, if there is one, and looks whether it
// may be replaced. Its content is not read yet.
func openOriginal(dir *os.Root, base string) (*original, error) {
	if dir == nil {
		return &original{}, nil
	}
	f, info, err := openRegular(dir, base)
	if errors.Is(err, fs.ErrNotExist) {
		return &original{}, nil
	}
	if err != nil {
		return nil, err
	}
	old := &original{Current: Current{Exists: true, Info: info}, f: f}
	switch {
	case identityOf(info).nlink > 1:
		err = ErrHardLinks
	case info.Size() > MaxFile:
		err = ErrTooLarge
	default:
		old.acl, err = readACL(f)
	}
	if err != nil {
		old.close()
		return nil, err
	}
	return old, nil
}

// read fills in Content and Version.
func (o *original) read(ctx context.Context) (err error) {
	if !o.Exists {
		return nil
	}
	if o.Content, err = readAll(ctx, o.f, o.Info.Size()); err != nil {
		return err
	}
	o.Version = versionFor(o.Content, o.Info)
	return nil
}

func (o *original) close() {
	if o.f != nil {
		o.f.Close()
	}
}

// chunk is how many bytes are read, written or compared between two looks at
// whether anybody still wants the result.
const chunk = 1 << 20

// readAll reads r, which is expected to hold size bytes, up to MaxFile.
func readAll(ctx context.Context, r io.Reader, size int64) ([]byte, error) {
	buf := make([]byte, 0, size+512) // room to find the end without growing
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		buf = slices.Grow(buf, 1)
		n, err := r.Read(buf[len(buf):min(len(buf)+chunk, cap(buf))])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > MaxFile:
			return nil, ErrTooLarge
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return nil, err
		}
	}
}

// versionFor is the version of a file's content, which costs a look at all of it
// only where it says something.
func versionFor(content []byte, info fs.FileInfo) Version {
	if len(content) > MaxHashed {
		return statVersion(info)
	}
	return VersionOf(content)
}
