package media

import "encoding/binary"

const (
	riffHead  = 12 // "RIFF", a length, "WEBP"
	chunkHead = 8  // a name of four letters, a length
)

// chunk is a part of a WebP file.
type chunk struct {
	name string
	data []byte
}

// chunks calls yield with the parts of b, which have no head before them.
func chunks(b []byte) func(yield func(chunk) bool) {
	return func(yield func(chunk) bool) {
		for len(b) >= chunkHead {
			n := int(binary.LittleEndian.Uint32(b[4:]))
			end := min(chunkHead+n, len(b))
			if !yield(chunk{string(b[:4]), b[chunkHead:end]}) {
				return
			}
			b = b[min(end+n&1, len(b)):]
		}
	}
}

// webpCost: a lossless WebP is undone in several steps of a whole picture each,
// and so is the alpha of a lossy one.
func (h *header) webpCost(b []byte) float64 {
	cost := 1.6
	for c := range chunks(b[riffHead:]) {
		switch c.name {
		case "VP8L":
			h.photo = false
			return 10
		case "ALPH":
			cost = 12
		case "VP8 ":
			return cost
		}
	}
	return cost
}

// firstFrame makes a file of its own of the first frame of an animated WebP,
// which the decoder does not know. It gives false for others.
func firstFrame(b []byte) ([]byte, bool) {
	const place, size, sizeEnd = 16, 6, 12 // how much comes before a frame's parts, and where in it its size is
	for c := range chunks(b[riffHead:]) {
		if c.name != "ANMF" || len(c.data) < place {
			continue
		}
		var parts []byte
		for part := range chunks(c.data[place:]) {
			if part.name == "ALPH" {
				parts = appendChunk(parts, "VP8X", append([]byte{0x10, 0, 0, 0}, c.data[size:sizeEnd]...))
			}
			parts = appendChunk(parts, part.name, part.data)
		}
		file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(parts)+4))
		return append(append(file, "WEBP"...), parts...), true
	}
	return nil, false
}

func appendChunk(b []byte, name string, data []byte) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, name...), uint32(len(data)))
	b = append(b, data...)
	if len(data)%2 == 1 {
		b = append(b, 0)
	}
	return b
}
