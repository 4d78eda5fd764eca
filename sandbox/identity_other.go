//go:build !unix

package sandbox

import "io/fs"

// identityOf knows nothing here; a file is then told by size and time, and its
// number of links is taken as one.
func identityOf(fs.FileInfo) identity { return identity{nlink: 1} }
