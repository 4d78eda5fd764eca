package tools

import (
	"os"
	"testing"

	"mcp-tools/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.Helper(os.Args) {
		return
	}
	os.Exit(m.Run())
}
