package server

import (
	"net/http"
	"sync"
)

const (
	// maxAllRunning and maxAllHeld bound what is in flight for all HTTP clients,
	// and maxListening how many subscriptions there may be, which hold nothing.
	maxAllRunning = 512
	maxAllHeld    = 256 << 20
	maxListening  = 512
	// leastShare is what a principal may always have in flight, however many there
	// are, as long as there is room for it.
	leastShare = 64
)

// loads are what is in flight by HTTP, of all and of each principal: one of them
// must not be able to shut out the others. Safe for concurrent use.
type loads struct {
	calls, listening *load // of all
	share            int

	mu      sync.Mutex
	byCalls map[string]*load
	byLists map[string]*load
}

func newLoads(principals int) *loads {
	all := func(most int) *load {
		return &load{whose: "all clients", most: most, weight: maxAllHeld, status: http.StatusServiceUnavailable}
	}
	return &loads{
		calls: all(maxAllRunning), listening: all(maxListening), share: max(leastShare, maxAllRunning/principals),
		byCalls: make(map[string]*load), byLists: make(map[string]*load),
	}
}

// of is the load of a principal's calls, or of its subscriptions.
func (ls *loads) of(principal string, listens bool) *load {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	by, parent := ls.byCalls, ls.calls
	if listens {
		by, parent = ls.byLists, ls.listening
	}
	if ls.share >= maxAllRunning {
		return parent
	}
	if by[principal] == nil {
		by[principal] = &load{whose: "this principal", most: ls.share, weight: maxAllHeld, parent: parent, status: http.StatusTooManyRequests}
	}
	return by[principal]
}

// close refuses everything from now on.
func (ls *loads) close() {
	ls.calls.close()
	ls.listening.close()
}
