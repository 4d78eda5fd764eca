package tools

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// runs tells which of the tickets may run.
func runs(ts []*ticket) string {
	out := make([]byte, len(ts))
	for i, t := range ts {
		out[i] = '.'
		select {
		case <-t.ready:
			out[i] = 'r'
		default:
		}
	}
	return string(out)
}

func TestGate(t *testing.T) {
	// A row is a list of arrivals (s safe, w write, o outside) and departures
	// (the number of the arrival), and after each step who may run.
	for _, row := range []struct{ name, steps, want string }{
		{"safe calls share", "sss", "r rr rrr"},
		{"at most ten safe calls", "sssssssssss", "r rr rrr rrrr rrrrr rrrrrr rrrrrrr rrrrrrrr rrrrrrrrr rrrrrrrrrr rrrrrrrrrr."},
		{"the eleventh comes in when one goes", "sssssssssss0", "r rr rrr rrrr rrrrr rrrrrr rrrrrrr rrrrrrrr rrrrrrrrr rrrrrrrrrr rrrrrrrrrr. rrrrrrrrrrr"},
		{"writes run one at a time", "ww0", "r r. rr"},
		{"a write waits for the readers before it", "sw0", "r r. rr"},
		{"a reader waits for a write in progress", "ws0", "r r. rr"},
		{"a reader waits for a write that came first", "sws01", "r r. r.. rr. rrr"},
		{"a reader never waits for a command", "os", "r rr"},
		{"a reader passes a write that waits for a command", "ows", "r r. r.r"},
		{"commands run one at a time, in order", "ooo01", "r r. r.. rr. rrr"},
		{"a command waits for the readers before it", "so0", "r r. rr"},
		{"a reader does not wait for a command that waits", "sos", "r r. r.r"},
		{"a command is not held up by readers that came later", "soss0", "r r. r.r r.rr rrrr"},
		{"a write after a command waits for the readers let in meanwhile", "ows0", "r r. r.r r.r"},
		{"and runs when they are gone", "ows02", "r r. r.r r.r rrr"},
		{"readers do not starve a write", "swss0", "r r. r.. r... rr.."},
		{"a write and a command in order", "wo0", "r r. rr"},
		{"who waits and leaves lets the next in", "sws1", "r r. r.. r.r"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var g gate
			var ts []*ticket
			var got string
			for i, step := range row.steps {
				switch step {
				case 's':
					ts = append(ts, g.enter(safe))
				case 'w':
					ts = append(ts, g.enter(exclusive))
				case 'o':
					ts = append(ts, g.enter(outside))
				default:
					ts[step-'0'].leave()
				}
				if i > 0 {
					got += " "
				}
				got += runs(ts)
			}
			require.Equal(t, row.want, got)
		})
	}
}

func TestAWaitingCallObeysItsContext(t *testing.T) {
	var g gate
	first, second := g.enter(exclusive), g.enter(exclusive)
	cause := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	require.NoError(t, first.wait(ctx), "a call that may run does")
	require.ErrorIs(t, second.wait(ctx), cause)
	first.leave()
	require.Empty(t, g.waiting)
	require.Empty(t, g.running)
}

// Whatever comes and goes: the rules hold at every moment, and in the end all have run.
func TestGateNeverBreaksItsRules(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var g gate
		var live []*ticket
		started := map[*ticket]bool{}
		check := func() {
			n := [3]int{g.count(exclusive), g.count(outside), g.count(safe)}
			if n[exclusive]+n[outside] > 1 || n[safe] > maxSafe || n[exclusive] > 0 && n[safe] > 0 {
				t.Fatalf("seed %d: %v run", seed, n)
			}
			for _, r := range g.running {
				if !started[r] {
					started[r] = true
					for _, w := range g.waiting {
						if w.class == r.class && w.seq < r.seq {
							t.Fatalf("seed %d: a later call of the same class was let in first", seed)
						}
					}
				}
			}
		}
		for range 200 {
			if rnd.IntN(2) == 0 || len(live) == 0 {
				live = append(live, g.enter(class(rnd.IntN(3))))
			} else {
				i := rnd.IntN(len(live))
				live[i].leave()
				live = append(live[:i], live[i+1:]...)
			}
			check()
		}
		for len(g.running) > 0 {
			g.running[rnd.IntN(len(g.running))].leave()
			check()
		}
		require.Empty(t, g.waiting, "seed %d: nobody is left waiting", seed)
	}
}
