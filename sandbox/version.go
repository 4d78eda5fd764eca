package sandbox

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"
)

// MaxHashed is the size in bytes up to which a version is made of the content.
// A larger file is told by its identity, size and times.
const MaxHashed = 64 << 20

// A Version says which content of a file was seen. Two versions are equal when
// the contents are; "" is no version.
type Version string

const (
	contentPrefix = "v1."
	partPrefix    = "v1p."
	statPrefix    = "s1."
)

// VersionOf is the version of a content.
func VersionOf(content []byte) Version {
	sum := sha256.Sum256(content)
	return sumVersion(sum[:])
}

func sumVersion(sum []byte) Version {
	return Version(contentPrefix + base64.RawURLEncoding.EncodeToString(sum[:16]))
}

// Partial is the handle that is given for a view of some lines only: good for
// an edit, not for overwriting the whole.
func (v Version) Partial() Version {
	if rest, ok := strings.CutPrefix(string(v), contentPrefix); ok {
		return Version(partPrefix + rest)
	}
	return v
}

// IsPartial tells whether a handle stands for less than the whole file.
// A file too large to be hashed is never shown whole.
func (v Version) IsPartial() bool {
	return strings.HasPrefix(string(v), partPrefix) || strings.HasPrefix(string(v), statPrefix)
}

// Whole is v without the mark of a partial view.
func (v Version) Whole() Version {
	if rest, ok := strings.CutPrefix(string(v), partPrefix); ok {
		return Version(contentPrefix + rest)
	}
	return v
}

// IsHandle tells whether s has the form of a version handle. Models invent others.
func IsHandle(s string) bool {
	for _, prefix := range [...]string{contentPrefix, partPrefix, statPrefix} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			b, err := base64.RawURLEncoding.DecodeString(rest)
			return err == nil && len(b) == 16
		}
	}
	return false
}

// A Hasher makes the version of what is written to it.
type Hasher struct{ h hash.Hash }

// NewHasher returns a Hasher of an empty content.
func NewHasher() *Hasher { return &Hasher{sha256.New()} }

func (h *Hasher) Write(p []byte) (int, error) { return h.h.Write(p) }

// Version is the version of all that was written so far.
func (h *Hasher) Version() Version { return sumVersion(h.h.Sum(nil)) }

// statVersion is the version of a file too large to be hashed.
func statVersion(info fs.FileInfo) Version {
	id := identityOf(info)
	h := sha256.New()
	for _, n := range [...]uint64{id.dev, id.ino, uint64(info.Size()), uint64(info.ModTime().UnixNano()), uint64(id.ctime)} {
		h.Write(binary.LittleEndian.AppendUint64(nil, n))
	}
	return Version(statPrefix + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16]))
}

// versionOfFile reads f to its end, if it is small enough to be hashed.
func versionOfFile(f *os.File, info fs.FileInfo) (Version, error) {
	if info.Size() > MaxHashed {
		return statVersion(info), nil
	}
	h := NewHasher()
	if _, err := io.Copy(h, io.LimitReader(f, MaxHashed+1)); err != nil {
		return "", err
	}
	return h.Version(), nil
}

// identity tells one file from another, and one state from the next.
type identity struct {
	dev, ino uint64
	nlink    uint64
	ctime    int64 // nanoseconds
	uid, gid int
	known    bool
}
