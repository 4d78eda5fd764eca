package tools

import (
	"container/list"
	"slices"
	"sync"
	"sync/atomic"

	"mcp-tools/sandbox"
)

const (
	// maxSeenFiles is how many files a session remembers to have read; the longest
	// unused is forgotten first, and must then be read again.
	maxSeenFiles = 10000
	// maxSnapshot and maxSnapshots bound the contents that are kept, in bytes, so
	// that a refusal can show what has changed.
	maxSnapshot  = 1 << 20
	maxSnapshots = 16 << 20
	// maxAllSeen and maxAllSnapshots are the same for all sessions of a server
	// together. Whoever adds to them when they are reached gives up what it has not
	// used for longest, but keeps fewSeen files.
	maxAllSeen      = 200000
	maxAllSnapshots = 256 << 20
	fewSeen         = 100
)

// memory counts what all sessions remember. Safe for concurrent use.
type memory struct{ files, bytes atomic.Int64 }

// A view is what a session knows of a file.
type view struct {
	path    sandbox.Path
	version sandbox.Version // of the whole file
	lines   int             // how many it has; 0 when not counted
	shown   spans           // lines shown to their end
	cut     spans           // lines of which only the beginning was shown
	whole   bool            // everything was shown
	stamp   sandbox.Stamp   // of the file then
	text    *string         // its text then, if small
	// encoding it was read in, as the model named it; "": it was found out.
	encoding string
}

// seen remembers the views of a session. Safe for concurrent use; the zero
// value is ready.
type seen struct {
	mu    sync.Mutex
	files map[string]*list.Element // of *view
	order list.List                // most recently used first
	bytes int                      // of all snapshots

	shared                     *memory // this and the other sessions; nil: there are none
	countedFiles, countedBytes int     // of ours, in all
	closed                     bool    // nothing is remembered any more
}

// close forgets everything for good.
func (s *seen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.files, s.bytes = true, nil, 0
	s.order.Init()
	s.count()
}

// forget drops what is known of some files.
func (s *seen) forget(keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if e, ok := s.files[key]; ok {
			s.drop(e)
		}
	}
	s.count()
}

// count tells what there is of us to the others.
func (s *seen) count() {
	if s.shared == nil {
		return
	}
	s.shared.files.Add(int64(len(s.files) - s.countedFiles))
	s.shared.bytes.Add(int64(s.bytes - s.countedBytes))
	s.countedFiles, s.countedBytes = len(s.files), s.bytes
}

// any: something is remembered.
func (s *seen) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files) > 0
}

// add records a view. Lines shown of the same version add up.
func (s *seen) add(v view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	key := v.path.Key()
	if e, ok := s.files[key]; ok {
		if old := e.Value.(*view); old.version == v.version && old.encoding == v.encoding { // read otherwise, it is another text
			v.join(old)
		}
		s.drop(e)
	}
	if s.files == nil {
		s.files = make(map[string]*list.Element)
	}
	if v.text != nil && len(*v.text) > maxSnapshot {
		v.text = nil
	}
	if v.text != nil {
		s.bytes += len(*v.text)
	}
	s.files[key] = s.order.PushFront(&v)
	s.trim()
}

// join adds what an older view of the same content has shown.
func (v *view) join(old *view) {
	v.whole = v.whole || old.whole
	if v.lines == 0 {
		v.lines = old.lines
	}
	v.shown = slices.Concat(v.shown, old.shown).normal()
	v.cut = slices.Concat(v.cut, old.cut).normal()
	if v.lines > 0 && v.shown.covers(v.lines) {
		v.whole = true
	}
	if v.text == nil {
		v.text = old.text
	}
}

// find returns what is known of the file at p, whose content is now of version
// now: by its name, or, where that is spelt otherwise (A.txt and a.txt can be one
// file) or was moved, by its identity, if the content is the one that was seen.
func (s *seen) find(p sandbox.Path, now sandbox.Version) (view, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.files[p.Key()]
	if !ok {
		e, ok = s.byIdentity(p)
		ok = ok && e.Value.(*view).version == now
	}
	if !ok {
		return view{}, false
	}
	s.order.MoveToFront(e)
	return *e.Value.(*view), true
}

// has tells whether anything is known of the file at p.
func (s *seen) has(p sandbox.Path) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.files[p.Key()]
	if !ok {
		_, ok = s.byIdentity(p)
	}
	return ok
}

func (s *seen) byIdentity(p sandbox.Path) (*list.Element, bool) {
	if !p.Exists {
		return nil, false
	}
	st := sandbox.StampOf(p.Info)
	if st.Ino == 0 {
		return nil, false
	}
	for e := s.order.Front(); e != nil; e = e.Next() {
		if v := e.Value.(*view); v.stamp.Ino == st.Ino && v.stamp.Dev == st.Dev {
			return e, true
		}
	}
	return nil, false
}

// all lists the views, most recently used first, at most n.
func (s *seen) all(n int) []view {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []view
	for e := s.order.Front(); e != nil && len(out) < n; e = e.Next() {
		out = append(out, *e.Value.(*view))
	}
	return out
}

func (s *seen) drop(e *list.Element) {
	v := e.Value.(*view)
	if v.text != nil {
		s.bytes -= len(*v.text)
	}
	s.order.Remove(e)
	delete(s.files, v.path.Key())
}

// trim keeps the bounds: files first, then snapshots of the longest unused.
func (s *seen) trim() {
	for len(s.files) > maxSeenFiles {
		s.drop(s.order.Back())
	}
	for s.count(); s.shared != nil && s.shared.files.Load() > maxAllSeen && len(s.files) > fewSeen; s.count() {
		s.drop(s.order.Back())
	}
	for e := s.order.Back(); e != nil && s.tooMuchText(); e = e.Prev() {
		if v := e.Value.(*view); v.text != nil {
			s.bytes -= len(*v.text)
			v.text = nil
			s.count()
		}
	}
}

func (s *seen) tooMuchText() bool {
	return s.bytes > maxSnapshots || s.shared != nil && s.shared.bytes.Load() > maxAllSnapshots
}
