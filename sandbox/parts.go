package sandbox

import "io/fs"

// Parts is the content of a file as parts that follow one another. An edit shares
// most of them with the content before: a large file is not in memory twice.
type Parts [][]byte

// Whole is a content in one part.
func Whole(content []byte) Parts { return Parts{content} }

func (p Parts) size() (n int) {
	for _, part := range p {
		n += len(part)
	}
	return n
}

// version is that of the content, in a file of which info tells.
func (p Parts) version(info fs.FileInfo) Version {
	if p.size() > MaxHashed {
		return statVersion(info)
	}
	h := NewHasher()
	for _, part := range p {
		h.Write(part)
	}
	return h.Version()
}
