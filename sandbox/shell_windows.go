package sandbox

import "errors"

// Helper does nothing on Windows.
func Helper(args []string) (handled bool) { return false }

var errNoShell = errors.New("no program can be started on Windows yet: run the server in WSL for that")

func startProcess(job, childFiles) (process, error) { return nil, errNoShell }
