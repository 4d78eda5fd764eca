//go:build unix && !linux

package sandbox

import (
	"os"
	"path/filepath"
)

// subDirName is a name for the directory called name in parent. Where a file
// system does not tell the types of entries, ReadDir looks them up by it; what
// is opened is judged again.
func subDirName(parent *os.File, name string, _ int) string {
	return filepath.Join(parent.Name(), name)
}
