package sandbox

import (
	"context"
	"strings"
	"sync"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// pathLocks gives one lock per place, by its real host path. Names that differ
// only in case or Unicode form share a lock, for they are one file on some file
// systems.
type pathLocks struct {
	mu   sync.Mutex
	held map[string]*pathLock
}

type pathLock struct {
	token chan struct{} // holds one value while the lock is free
	users int
}

// acquire waits for the lock of a place, or for ctx, whose cause is then the
// error. The returned function gives the lock back.
func (l *pathLocks) acquire(ctx context.Context, host string) (func(), error) {
	key := fold(host)
	l.mu.Lock()
	if l.held == nil {
		l.held = make(map[string]*pathLock)
	}
	pl := l.held[key]
	if pl == nil {
		pl = &pathLock{token: make(chan struct{}, 1)}
		pl.token <- struct{}{}
		l.held[key] = pl
	}
	pl.users++
	l.mu.Unlock()

	select {
	case <-pl.token:
		return func() { pl.token <- struct{}{}; l.leave(key, pl) }, nil
	case <-ctx.Done():
		l.leave(key, pl)
		return nil, context.Cause(ctx)
	}
}

// settle waits until whoever holds or awaits the lock of a place now has given it
// back, or for ctx, whose cause is then the error.
func (l *pathLocks) settle(ctx context.Context, host string) error {
	l.mu.Lock()
	busy := l.held[fold(host)] != nil
	l.mu.Unlock()
	if !busy {
		return nil
	}
	unlock, err := l.acquire(ctx, host)
	if err != nil {
		return err
	}
	unlock()
	return nil
}

func (l *pathLocks) leave(key string, pl *pathLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if pl.users--; pl.users == 0 {
		delete(l.held, key)
	}
}

// fold makes names equal that a file system may take for the same.
func fold(s string) string {
	if isPlainLower(s) {
		return s
	}
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(s)))
}

func isPlainLower(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 || r >= 'A' && r <= 'Z' }) < 0
}
