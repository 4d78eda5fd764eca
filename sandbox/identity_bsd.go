//go:build unix && !linux

package sandbox

import "syscall"

// changeTime is zero where the field has another name; size, times and identity
// then tell large files apart.
func changeTime(*syscall.Stat_t) int64 { return 0 }
