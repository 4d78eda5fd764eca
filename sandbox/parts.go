package sandbox

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

// hash makes the version of the content while the caller does something else; ""
// if the content is too large for one.
func (p Parts) hash() <-chan Version {
	version := make(chan Version, 1)
	if p.size() > MaxHashed {
		version <- ""
		return version
	}
	go func() {
		h := NewHasher()
		for _, part := range p {
			h.Write(part)
		}
		version <- h.Version()
	}()
	return version
}
