package tools

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"mcp-tools/tools/edit"
)

func TestSpansAddUp(t *testing.T) {
	require.Equal(t, "1-5, 7, 9-10", spans{{7, 7}, {9, 10}, {1, 3}, {2, 5}}.normal().String())
	require.Equal(t, "1-6", spans{{4, 6}, {1, 3}}.normal().String(), "touching runs are one")
	require.True(t, spans{{1, 10}}.covers(10))
	require.False(t, spans{{1, 3}, {5, 10}}.covers(10))
	require.True(t, spans(nil).covers(0))
	require.Equal(t, "1-2, 4-5", spans{{1, 5}}.without(spans{{3, 3}}).String())
}

// The oracle marks each line by itself.
func TestSpansMoveAsTheirLinesDo(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		lines := rnd.IntN(20) + 1
		var known spans
		for range rnd.IntN(4) {
			a := rnd.IntN(lines) + 1
			known = append(known, span{a, a + rnd.IntN(lines-a+1)})
		}
		known = known.normal()
		shown := make([]bool, lines+1)
		for i := 1; i <= lines; i++ {
			shown[i] = known.holds(span{i, i})
		}
		var hunks []edit.Hunk
		var want []bool // of the new lines, from 1
		want = append(want, false)
		shift := 0
		for at := 1; at <= lines+1; {
			if rnd.IntN(5) == 0 {
				n, m := rnd.IntN(min(4, lines-at+2)), rnd.IntN(4)
				if n+m == 0 {
					m = 1
				}
				h := edit.Hunk{OldStart: at, NewStart: at + shift, Old: make([]string, n), New: make([]string, m)}
				if n == 0 {
					h.OldStart--
				}
				if m == 0 {
					h.NewStart--
				}
				hunks = append(hunks, h)
				all := true
				for i := at; i < at+n; i++ {
					all = all && shown[i]
				}
				for range m {
					want = append(want, all)
				}
				at += n
				shift += m - n
			}
			if at <= lines {
				want = append(want, shown[at])
			}
			at++
		}
		got := known.after(hunks, known.holds)
		for i := 1; i < len(want); i++ {
			require.Equal(t, want[i], got.holds(span{i, i}), "seed %d line %d: %v after %v is %v", seed, i, known, hunks, got)
		}
	}
}
