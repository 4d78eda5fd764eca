//go:build !linux

package sandbox

const serverMode = "SANDBOX_TEST_SERVER"

func serveForTest() {}
