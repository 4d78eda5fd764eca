package tools

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestACommandThatPrintsNothingIsReportedToBeRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []Progress
		told, stop := shellProgress(WithProgress(t.Context(), func(p Progress) { got = append(got, p) }))
		time.Sleep(12 * time.Second)
		synctest.Wait()
		told("last line", 40)
		stop()
		time.Sleep(time.Minute)
		require.Equal(t, []Progress{
			{Progress: 5, Message: "running for 5 s"}, {Progress: 10, Message: "running for 10 s"}, {Progress: 12, Message: "40 bytes: last line"},
		}, got)
	})
	told, stop := shellProgress(context.Background())
	require.Nil(t, told, "nobody asked")
	stop()
}

func TestTheTimeoutIsInMilliseconds(t *testing.T) {
	p := newPlace(t, nil)
	for _, row := range []struct {
		timeout any
		want    string
	}{
		{30, "Error: timeout is in milliseconds: 30 is too short for any command. For 30 seconds send 30000"},
		{0, "Error: timeout must be between 100 and 600000 milliseconds, but 0 came"},
		{-1, "Error: timeout must be between 100 and 600000 milliseconds, but -1 came"},
		{1500.5, "Error: timeout must be a whole number, but 1500.5 came"},
	} {
		require.Equal(t, row.want, p.fails("run_shell", map[string]any{"command": "true", "timeout": row.timeout}))
	}
	require.Equal(t, "Error: command must not be empty", p.fails("bash", map[string]any{"cmd": " "}))
}

func TestExitCodesThatAreNoFailure(t *testing.T) {
	for command, want := range map[string]string{
		"grep x f": "nothing matched", "cat f | grep x": "nothing matched", "cd d && /usr/bin/grep x f": "nothing matched",
		"diff a b": "the files differ", "test -f x": "the condition does not hold", "[ -f x ]": "the condition does not hold", "[[ -f x ]]": "the condition does not hold",
		// The last command may not have been reached, or not be the one that failed.
		"set -e; false; grep -q x f": "", "set -o pipefail; false | grep hi f": "", "false || exit 1; diff a a": "", "f(){ exit 1; }; f; test -f f": "",
		": ${X:?}; grep x f": "", ". ./env; grep x f": "", "$RUN; grep x f": "", "trap 'x' ERR; grep x f": "",
		"false": "", "grep x f | head": "", "make": "", "grep x f; false": "", "'": "",
	} {
		require.Equal(t, want, exitMeaning(command, 1), command)
	}
	require.Empty(t, exitMeaning("grep x f", 2), "grep failed")
}
