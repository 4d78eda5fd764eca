//go:build unix

package sandbox

import (
	"io/fs"
	"syscall"
)

func identityOf(info fs.FileInfo) identity {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{nlink: 1}
	}
	return identity{
		dev: uint64(st.Dev), ino: uint64(st.Ino), nlink: uint64(st.Nlink),
		ctime: changeTime(st), uid: int(st.Uid), gid: int(st.Gid), known: true,
	}
}
