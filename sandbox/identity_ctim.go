//go:build unix && !darwin && !freebsd && !netbsd && !aix

package sandbox

import "syscall"

func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
