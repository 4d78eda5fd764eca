package sandbox

import "errors"

// Helper does nothing on Windows.
func Helper(args []string) (handled bool) { return false }

var errNoShell = errors.New("run_shell is not available on Windows yet: run the server in WSL to use it")

func startProcess(job, childFiles) (process, error) { return nil, errNoShell }
