package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Limits on the passes that a JPEG is stored in. Real ones have about ten; each
// is work on the whole picture, which a few bytes of file can ask for.
const (
	maxScans   = 100
	maxScanned = 1_000_000_000 // pixels in all passes together, about 3 s
)

// jpegFrame is what the markers of a JPEG tell.
type jpegFrame struct {
	progressive bool
	components  int
	planes      float64 // bytes for each pixel that its components take
	scans       int
	rgb         bool // Adobe says that the colours are stored as they are
}

// jpegCost reads the markers of a JPEG for the cost of a pixel.
func (h *header) jpegCost(b []byte) (float64, error) {
	f := h.readMarkers(b)
	if f.scans > maxScans || f.scans*h.width*h.height > maxScanned {
		return 0, fmt.Errorf("this JPEG picture (%d x %d pixels) is stored in %d passes, far more than any program writes; it may be made to waste time",
			h.width, h.height, f.scans)
	}
	h.cmyk = f.components == 4
	cost := f.planes
	if f.progressive {
		cost *= 5 // 4 bytes for each coefficient besides
	}
	if h.cmyk || f.rgb {
		cost += 4 // it is turned into one plane at the end
	}
	return cost, nil
}

func (h *header) readMarkers(b []byte) (f jpegFrame) {
	f.planes = 3
	for pos := 2; pos+4 <= len(b); {
		if b[pos] != 0xff {
			pos = nextMarker(b, pos)
			continue
		}
		marker := b[pos+1]
		switch {
		case marker == 0xff: // a fill byte
			pos++
			continue
		case marker <= 1 || marker >= 0xd0 && marker <= 0xd8: // no segment follows
			pos += 2
			continue
		}
		end := min(pos+2+int(binary.BigEndian.Uint16(b[pos+2:])), len(b))
		if end < pos+4 {
			return f
		}
		h.segment(&f, marker, b[pos+4:end])
		pos = end
		if marker == 0xda {
			pos = nextMarker(b, pos)
		}
	}
	return f
}

// nextMarker passes over the data of a scan.
func nextMarker(b []byte, pos int) int {
	for pos < len(b) {
		i := bytes.IndexByte(b[pos:], 0xff)
		if i < 0 || pos+i+1 >= len(b) {
			return len(b)
		}
		pos += i
		if next := b[pos+1]; next != 0 && (next < 0xd0 || next > 0xd7) {
			return pos
		}
		pos += 2
	}
	return pos
}

func (h *header) segment(f *jpegFrame, marker byte, data []byte) {
	switch marker {
	case 0xc0, 0xc1, 0xc2:
		f.progressive = f.progressive || marker == 0xc2
		f.frame(data)
	case 0xda:
		f.scans++
	case 0xe1:
		if o := exifOrientation(data); o > 0 && h.orientation == 0 {
			h.orientation = o
		}
	case 0xee:
		f.rgb = f.rgb || bytes.HasPrefix(data, []byte("Adobe")) && len(data) >= 12 && data[11] == 0
	}
}

// frame reads how finely each component is sampled.
func (f *jpegFrame) frame(data []byte) {
	const head = 6
	if len(data) < head {
		return
	}
	f.components = int(data[5])
	var samples, most int
	for i := range f.components {
		if head+3*i+1 >= len(data) {
			return
		}
		s := data[head+3*i+1]
		n := int(s>>4) * int(s&15)
		samples, most = samples+n, max(most, n)
	}
	if f.components == 1 {
		f.planes = 1
	} else if most > 0 {
		f.planes = max(1.5, float64(samples)/float64(most))
	}
}
