package sandbox

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

const (
	// maxPreimages is how many bytes of them there may be; the oldest go first.
	// They are kept as long as results.
	maxPreimages = 256 << 20
	// MaxPreimage is the size in bytes of the largest content that is kept.
	MaxPreimage = 64 << 20
)

// ErrNoPreimage: there is none of that id, or none any more.
var ErrNoPreimage = errors.New("nothing of this id is kept")

// A Preimage is what a file was before a change, kept so that the change can be
// taken back. It lies in the state directory, where no tool reads or writes it.
type Preimage struct {
	ID      string    `json:"-"`
	Path    string    `json:"path"`             // of the host
	Existed bool      `json:"existed"`          // else the change made the file
	Was     Version   `json:"was"`              // of the content before
	Size    int64     `json:"size"`             // of it, in bytes
	Left    Version   `json:"left"`             // of what the change left; "" where it removed the file
	Tool    string    `json:"tool"`             // that made the change
	Undoes  string    `json:"undoes,omitempty"` // the id of what the change took back
	Time    time.Time `json:"time"`
}

// preimageName is the name of one: its content, and once the change was made what
// is known of it.
var preimageName = regexp.MustCompile(`^undo-([A-Z2-7]{16})\.(before|json)$`)

// preimages is the part of the state directory for them. Nothing is made before
// something is kept. Safe for concurrent use.
type preimages struct {
	mu      sync.Mutex
	swept   time.Time
	written int64 // bytes since then
}

// A KeptContent is the content of a file that is about to be changed. It is not
// safe for concurrent use.
type KeptContent struct {
	st   *State
	id   string
	was  Version
	size int64
}

// KeepContent writes down what a file holds before it is changed; was is the version
// of it. Then Commit or Discard.
func (st *State) KeepContent(content []byte, was Version) (*KeptContent, error) {
	if st == nil {
		return nil, errors.New("there is no state directory")
	}
	if len(content) > MaxPreimage {
		return nil, fmt.Errorf("%d bytes are more than the %d that are kept", len(content), MaxPreimage)
	}
	r, err := st.openPreimages(true)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	st.sweepPreimages(r, int64(len(content)))
	if was == "" { // there was no file
		was = VersionOf(content)
	}
	k := &KeptContent{st: st, id: rand.Text()[:16], was: was, size: int64(len(content))} // 80 bits: whoever knows it may take the change back
	if err := writeNew(r, "undo-"+k.id+".before", content); err != nil {
		_ = r.Remove("undo-" + k.id + ".before")
		return nil, err
	}
	return k, nil
}

// Commit says what became of the change, and returns all that is known of it then,
// with the id by which it can be taken back.
func (k *KeptContent) Commit(p Preimage) (Preimage, error) {
	p.ID = k.id
	p.Was, p.Size = k.was, k.size
	text, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	r, err := k.st.openPreimages(false)
	if err != nil {
		return p, err
	}
	defer r.Close()
	if err := writeNew(r, "undo-"+k.id+".json", text); err != nil {
		_ = r.Remove("undo-" + k.id + ".json")
		return p, err
	}
	return p, nil
}

// Discard forgets the content: the change was not made.
func (k *KeptContent) Discard() {
	if r, err := k.st.openPreimages(false); err == nil {
		defer r.Close()
		_ = r.Remove("undo-" + k.id + ".before")
	}
}

// Preimage is what is known of a change, without the content.
func (st *State) Preimage(id string) (Preimage, error) {
	if st == nil || !preimageName.MatchString("undo-"+id+".json") {
		return Preimage{}, ErrNoPreimage
	}
	r, err := st.openPreimages(false)
	if err != nil {
		return Preimage{}, noPreimage(err)
	}
	defer r.Close()
	text, err := readLimited(r, "undo-"+id+".json", 64<<10)
	if err != nil {
		return Preimage{}, noPreimage(err)
	}
	p := Preimage{ID: id}
	if err := json.Unmarshal(text, &p); err != nil {
		return Preimage{}, fmt.Errorf("what is kept of this id is damaged: %w", err)
	}
	p.ID = id
	return p, nil
}

// ErrDamaged: what is kept is not what the file held, as after a loss of power.
var ErrDamaged = errors.New("what was kept of the file is damaged")

// Content is what the file held before the change. Error: [ErrDamaged].
func (st *State) Content(p Preimage) ([]byte, error) {
	content, err := st.content(p.ID)
	if err == nil && VersionOf(content) != p.Was {
		err = ErrDamaged
	}
	return content, err
}

func (st *State) content(id string) ([]byte, error) {
	if st == nil || !preimageName.MatchString("undo-"+id+".before") {
		return nil, ErrNoPreimage
	}
	r, err := st.openPreimages(false)
	if err != nil {
		return nil, noPreimage(err)
	}
	defer r.Close()
	content, err := readLimited(r, "undo-"+id+".before", MaxPreimage)
	return content, noPreimage(err)
}

func noPreimage(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoPreimage
	}
	return err
}

// openPreimages opens their directory, made 0700 if create is set.
func (st *State) openPreimages(create bool) (*os.Root, error) {
	dir := filepath.Join(st.dir, "undo")
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := keepPrivate(r); err != nil {
		r.Close()
		return nil, fmt.Errorf("what files held before is for their owner alone: %w", err)
	}
	return r, nil
}

func writeNew(r *os.Root, name string, content []byte) error {
	f, err := r.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func readLimited(r *os.Root, name string, most int64) ([]byte, error) {
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", name, most)
	}
	return content, err
}

// sweepPreimages removes what is too old, and the oldest while there is too much,
// with room for another of size bytes. It looks once a minute, or when much was
// written.
func (st *State) sweepPreimages(r *os.Root, size int64) {
	now := time.Now()
	st.before.mu.Lock()
	st.before.written += size
	due := now.Sub(st.before.swept) >= sweepEvery || st.before.written > maxPreimages/8
	if due {
		st.before.swept, st.before.written = now, 0
	}
	st.before.mu.Unlock()
	if due {
		sweepPreimages(r, now, maxPreimages-size)
	}
}

func sweepPreimages(r *os.Root, now time.Time, quota int64) {
	sweepOld(r, preimageName, now, keepResults, quota)
}
