package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

// viewOf is a view of file number i, which need not be there.
func viewOf(t *testing.T, ws *sandbox.Workspace, i int, text *string) view {
	t.Helper()
	p, err := ws.Resolve(fmt.Sprintf("f%d", i))
	require.NoError(t, err)
	return view{path: p, text: text}
}

func emptyWorkspace(t *testing.T) *sandbox.Workspace {
	t.Helper()
	ws, err := sandbox.Open([]sandbox.RootSpec{{Dir: t.TempDir()}}, sandbox.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { ws.Close() })
	return ws
}

func TestMemoryOfAllSessionsTogetherIsBounded(t *testing.T) {
	ws := emptyWorkspace(t)
	var all memory
	text := strings.Repeat("x", maxSnapshot)
	var sessions []*seen
	for range maxAllSnapshots/maxSnapshots + 2 {
		s := &seen{shared: &all}
		for i := range 20 {
			s.add(viewOf(t, ws, i, &text))
		}
		sessions = append(sessions, s)
	}
	assert.Equal(t, int64(maxAllSnapshots), all.bytes.Load())
	last := sessions[len(sessions)-1]
	assert.Len(t, last.files, 20, "the files themselves are known")
	assert.Zero(t, last.bytes, "only their texts are not kept")

	for _, s := range sessions {
		s.close()
	}
	assert.Zero(t, all.bytes.Load())
	assert.Zero(t, all.files.Load())
	last.add(viewOf(t, ws, 0, &text))
	assert.Zero(t, all.files.Load(), "a closed session remembers nothing")
}

func TestEachSessionKeepsAFewFilesHoweverManyTheOthersKnow(t *testing.T) {
	ws := emptyWorkspace(t)
	var all memory
	all.files.Store(maxAllSeen)
	s := &seen{shared: &all}
	for i := range 3 * fewSeen {
		s.add(viewOf(t, ws, i, nil))
	}
	assert.Len(t, s.files, fewSeen)
	assert.True(t, s.has(viewOf(t, ws, 3*fewSeen-1, nil).path), "the latest are kept")
	assert.False(t, s.has(viewOf(t, ws, 0, nil).path))
}
