package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATerminalIsNotMadeToObeyAFile(t *testing.T) {
	text := "\x1b]0;title\x07 tab\t\u009b31m é\nnext"
	require.Equal(t, `\x1b]0;title\x07 tab`+"\t"+`\x9b31m é`+"\nnext", (&printer{terminal: true}).safe(text))
	require.Equal(t, text, (&printer{}).safe(text))
}
