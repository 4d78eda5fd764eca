package server

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTranscripts plays testdata/stdio/*.txt, one connection each:
//
//	-> text       the client writes text and a newline
//	->q "text"    the client writes the Go string as it is
//	<- text       the next line it receives; ... stands for anything
//	wait 2s       time passes
//	let name      a call of hold, hold_alone or deaf may end
//	eof           the client writes no more
//	stop          the context of ServeStdio ends
//	hangup        the client reads no more
//	end text      ServeStdio returns by itself, with an error that holds text
//	marks a b     what ran so far, in this order
//
// After each step every line the server wrote must be in the transcript.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/stdio/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, err := os.ReadFile(file)
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) { play(t, string(script)) })
		})
	}
}

func play(t *testing.T, script string) {
	f := newFixture()
	w := dial(t, f.server())
	over := false
	var got []string
	scan := bufio.NewScanner(strings.NewReader(script))
	for n := 1; scan.Scan(); n++ {
		verb, rest, _ := strings.Cut(scan.Text(), " ")
		if verb != "<-" {
			require.Empty(t, got, "line %d: not in the transcript", n)
		}
		switch verb {
		case "", "#":
			continue
		case "<-":
			require.NotEmpty(t, got, "line %d: nothing came", n)
			want := "^" + strings.ReplaceAll(regexp.QuoteMeta(rest), `\.\.\.`, ".*") + "$"
			require.Regexp(t, want, got[0], "line %d", n)
			got = got[1:]
			continue
		case "->":
			w.send(rest + "\n")
		case "->q":
			text, err := strconv.Unquote(rest)
			require.NoError(t, err, "line %d", n)
			w.send(text)
		case "wait":
			d, err := time.ParseDuration(rest)
			require.NoError(t, err, "line %d", n)
			time.Sleep(d)
		case "let":
			close(f.gate(rest))
		case "eof":
			w.in.Close()
		case "stop":
			w.cancel()
		case "hangup":
			w.out.Close()
		case "end":
			err := w.end()
			over = true
			if rest == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, rest)
			}
		case "marks":
			assert.Equal(t, rest, strings.Join(f.marks(), " "), "line %d", n)
		default:
			t.Fatalf("line %d: %q is no step", n, verb)
		}
		got = append(got, w.got()...)
	}
	require.Empty(t, got, "not in the transcript")
	if !over {
		w.in.Close()
		require.NoError(t, w.end())
	}
}
