package sandbox

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if Helper(os.Args) {
		return
	}
	if os.Getenv(serverMode) != "" {
		serveForTest()
		return
	}
	os.Exit(m.Run())
}
