package fetch

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCacheIsBoundedAndAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Cache[string]
		put := func(key string, size int) {
			c.Put(key, Cached[string]{Value: "of " + key, Size: size, Time: time.Now()})
		}
		has := func(key string) bool { _, _, ok := c.Get(key); return ok }
		put("a", 10)
		v, fresh, ok := c.Get("a")
		require.True(t, ok && fresh)
		require.Equal(t, "of a", v.Value)

		time.Sleep(Fresh)
		_, fresh, ok = c.Get("a")
		require.True(t, ok && !fresh, "it is kept, to be asked about")

		for i := range maxCached {
			put(fmt.Sprint(i), 1)
			has("a")
		}
		require.True(t, has("a"), "what is used stays")
		require.False(t, has("0"), "what was used longest ago went")
		require.LessOrEqual(t, len(c.entries), maxCached)

		put("large", maxCacheSize/2)
		put("large too", maxCacheSize/2)
		require.LessOrEqual(t, c.size, maxCacheSize)
		put("too large", maxCacheSize/2+1)
		require.False(t, has("too large"))
		put("large too", 1)
		require.Equal(t, 1, c.entries["large too"].Value.(*cacheEntry[string]).Size)
	})
}
