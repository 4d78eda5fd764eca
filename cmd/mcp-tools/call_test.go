package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATerminalIsNotMadeToObeyAFile(t *testing.T) {
	text := "\x1b]0;title\x07 tab\t\u009b31m é\nnext"
	require.Equal(t, `\x1b]0;title\x07 tab`+"\t"+`\x9b31m é`+"\nnext", (&printer{terminal: true}).safe(text))
	require.Equal(t, text, (&printer{}).safe(text))
}

func TestLinesEndWithTheirContextEvenWhileAReadWaits(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	lines, failed := readLines(ctx, r)
	_, err := io.WriteString(w, "one\n")
	require.NoError(t, err)
	require.Equal(t, "one", <-lines)
	cancel()
	_, more := <-lines
	require.False(t, more)
	require.ErrorIs(t, failed(), context.Canceled)

	lines, failed = readLines(t.Context(), strings.NewReader("a\n\nb"))
	var got []string
	for l := range lines {
		got = append(got, l)
	}
	require.Equal(t, []string{"a", "", "b"}, got)
	require.NoError(t, failed())
}

func TestAResultThatCannotBeWrittenIsAFailure(t *testing.T) {
	full := errors.New("full")
	p := &printer{w: writerFunc(func([]byte) (int, error) { return 0, full })}
	p.header("line")
	require.ErrorIs(t, p.failed, full)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
