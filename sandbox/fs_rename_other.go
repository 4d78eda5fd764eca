//go:build unix && !linux && !darwin

package sandbox

import "errors"

func renameNoReplace(int, string, string) error { return errors.ErrUnsupported }
