package sandbox

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

var planName = regexp.MustCompile(`^plan-[A-Z2-7]{26}\.md$`)

// maxPlans is how many bytes of plans there may be; they are kept as long as results.
const maxPlans = 16 << 20

// NewPlan names a file for a plan, which does not exist yet: file tools read and write
// it by this path, and nobody can guess it.
func (st *State) NewPlan() (path string, err error) {
	if st == nil {
		return "", errors.New("there is no state directory")
	}
	if err := os.MkdirAll(st.plansDir(), 0o700); err != nil {
		return "", err
	}
	r, err := os.OpenRoot(st.plansDir())
	if err != nil {
		return "", err
	}
	defer r.Close()
	if err := keepPrivate(r); err != nil {
		return "", err
	}
	sweepOld(r, planName, time.Now(), keepResults, maxPlans)
	return filepath.Join(st.plansDir(), "plan-"+rand.Text()+".md"), nil
}

func (st *State) plansDir() string { return filepath.Join(st.dir, "plans") }

// locatePlan finds the file of a plan by its absolute path.
func (st *State) locatePlan(abs string) (*root, string, bool) {
	dir := st.plansDir()
	if filepath.Dir(abs) != dir && filepath.Dir(abs) != filepath.Join(st.realDir(), "plans") {
		return nil, "", false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, "", false
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.plans == nil || st.plans.real != real || !sameNow(st.plans.dir, real) {
		d, err := os.OpenRoot(real)
		if err != nil {
			return nil, "", false
		}
		st.plans = &root{dir: d, given: dir, real: real}
	}
	return st.plans, filepath.Base(abs), true
}

// sameNow tells whether an open directory is still the one that has the name.
func sameNow(open *os.Root, name string) bool {
	a, errA := open.Stat(".")
	b, errB := os.Stat(name)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
