// Package search finds files and text below a directory: an ordered walk that
// obeys ignore rules, globs, listings, and grep. It knows nothing of tools, and
// reaches the file system only through [sandbox.Dir], which follows no link.
package search
