package tools

import "fmt"

// sentence is an error made within an update that is already worded for the
// model and must reach it unchanged.
type sentence struct{ err error }

func (s *sentence) Error() string { return s.err.Error() }
func (s *sentence) Unwrap() error { return s.err }

func sayAs(err error) error { return &sentence{err} }

func sayf(format string, args ...any) error { return &sentence{fmt.Errorf(format, args...)} }
