package sandbox

import (
	"path/filepath"
	"sync"
)

// stateNames are the spellings of a state directory. The one with links resolved
// is known once the directory exists.
type stateNames struct {
	mu   sync.Mutex
	real string
}

// holds tells whether a clean absolute path is the state directory or lies in it.
func (st *State) holds(abs string) bool {
	if st == nil {
		return false
	}
	if _, ok := below(st.dir, abs); ok {
		return true
	}
	real := st.realDir()
	if real == "" {
		return false
	}
	_, ok := below(real, abs)
	return ok
}

func (st *State) realDir() string {
	st.names.mu.Lock()
	defer st.names.mu.Unlock()
	if st.names.real == "" {
		st.names.real, _ = filepath.EvalSymlinks(st.dir)
	}
	return st.names.real
}
