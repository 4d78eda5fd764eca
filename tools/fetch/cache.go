package fetch

import (
	"container/list"
	"sync"
	"time"
)

// Limits of what is kept of pages.
const (
	Fresh        = 15 * time.Minute // for so long a page is not asked for again
	maxCached    = 64
	maxCacheSize = 48 << 20 // bytes
)

// Cached is what was made of a page, with what its server needs to say whether it has
// changed.
type Cached[V any] struct {
	Value              V
	Size               int // bytes
	ETag, LastModified string
	Time               time.Time // of the answer
}

// A Cache keeps what was made of the pages used last. Safe for concurrent use; the
// zero value is ready.
type Cache[V any] struct {
	mu      sync.Mutex
	entries map[string]*list.Element
	order   list.List // of *cacheEntry; used last first
	size    int
}

type cacheEntry[V any] struct {
	key string
	Cached[V]
}

// Get returns what is kept under key. fresh says that it need not be asked for again.
func (c *Cache[V]) Get(key string) (v Cached[V], fresh, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return v, false, false
	}
	c.order.MoveToFront(e)
	v = e.Value.(*cacheEntry[V]).Cached
	return v, time.Since(v.Time) < Fresh, true
}

// Put keeps v, and gives up what was used longest ago. What is too large is not kept.
func (c *Cache[V]) Put(key string, v Cached[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.drop(e)
	}
	if v.Size > maxCacheSize/2 {
		return
	}
	if c.entries == nil {
		c.entries = make(map[string]*list.Element)
	}
	c.entries[key] = c.order.PushFront(&cacheEntry[V]{key, v})
	c.size += v.Size
	for c.size > maxCacheSize || c.order.Len() > maxCached {
		c.drop(c.order.Back())
	}
}

func (c *Cache[V]) drop(e *list.Element) {
	old := c.order.Remove(e).(*cacheEntry[V])
	delete(c.entries, old.key)
	c.size -= old.Size
}
