package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// addOne appends one sign to the file called name.
func addOne(w *Workspace, name string) error {
	p, err := w.Resolve(name)
	if err != nil {
		return err
	}
	_, err = w.Update(context.Background(), p, UpdateOptions{}, func(cur Current) (Parts, error) {
		return Whole(append(bytes.Clone(cur.Content), '+')), nil
	})
	return err
}

// Every session may have a workspace of its own, whose roots are the same folder
// or hold one another; they still wait for each other.
func TestConcurrentUpdatesAreAllCounted(t *testing.T) {
	w, ws, _ := newPlace(t, nil)
	open := func(dir string) *Workspace {
		other, err := Open([]RootSpec{{Dir: dir}}, Options{})
		require.NoError(t, err)
		t.Cleanup(func() { other.Close() })
		return other
	}
	const writers, each = 4, 20
	var wg sync.WaitGroup
	for _, at := range []struct {
		w    *Workspace
		name string
	}{{w, "count"}, {open(ws), "count"}, {open(filepath.Dir(ws)), "ws/count"}} {
		for range writers {
			wg.Go(func() {
				for range each {
					if err := addOne(at.w, at.name); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	assertFile(t, filepath.Join(ws, "count"), strings.Repeat("+", 3*writers*each))
	require.Equal(t, []string{"count"}, names(t, ws))
}

// Processes do not wait for each other; the slower one is told and tries again.
func TestUpdatesOfTwoProcessesAreAllCounted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder cannot be locked on Windows")
	}
	const folder, each = "MCP_TOOLS_TEST_COUNT_IN", 100
	countUp := func(dir string) {
		w, err := Open([]RootSpec{{Dir: dir}}, Options{})
		require.NoError(t, err)
		defer w.Close()
		for done := 0; done < each; {
			err := addOne(w, "count")
			if err == nil {
				done++
			} else {
				require.ErrorIs(t, err, ErrChanged)
			}
		}
	}
	if dir := os.Getenv(folder); dir != "" { // the second process
		os.Stdout.WriteString("ready\n")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until both are there
		countUp(dir)
		return
	}
	_, ws, _ := newPlace(t, nil)
	exe, err := os.Executable()
	require.NoError(t, err)
	second := exec.Command(exe, "-test.run=^"+t.Name()+"$")
	second.Env = append(os.Environ(), folder+"="+ws)
	second.Stderr = os.Stderr
	start, err := second.StdinPipe()
	require.NoError(t, err)
	said, err := second.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, second.Start())
	out := bufio.NewReader(said)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	require.NoError(t, start.Close())
	countUp(ws)
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, second.Wait(), "%s", rest)
	assertFile(t, filepath.Join(ws, "count"), strings.Repeat("+", 2*each))
	require.Equal(t, []string{"count"}, names(t, ws))
}
