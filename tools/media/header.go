package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// header is what is known of a picture before it is decoded.
type header struct {
	mime          string
	size          int // of the file, in bytes
	width, height int // as stored, not turned
	orientation   int // of EXIF: 1 to 8, 0 for none
	animated      bool
	cmyk          bool
	photo         bool // the format is one for photographs
	memory        int  // that decoding takes, in bytes
}

// sideways says that width and height change places when the picture is turned.
func (h *header) sideways() bool { return h.orientation >= 5 }

// readHeader reads what the limits go by, and applies them.
func readHeader(mime string, b []byte) (*header, error) {
	format := formats[mime]
	config, err := format.config(bytes.NewReader(b))
	if err != nil {
		what := "is damaged at its beginning: " + err.Error()
		if isCut(err) {
			what = "is cut off: not even its size can be read"
		}
		return nil, fmt.Errorf("this %s picture (%s) %s", format.name, megabytes(len(b)), what)
	}
	h := &header{mime: mime, size: len(b), width: config.Width, height: config.Height}
	if h.width <= 0 || h.height <= 0 {
		return nil, fmt.Errorf("this %s picture has no pixels (%d x %d)", format.name, h.width, h.height)
	}
	// The side comes first, so that the products below are small.
	if max(h.width, h.height) > maxLongSide || h.width*h.height > MaxPixels {
		return nil, h.tooLarge(fmt.Sprintf("a picture may have at most %d megapixels and %d pixels on a side", MaxPixels/1_000_000, maxLongSide))
	}
	perPixel, err := h.cost(b)
	if err != nil {
		return nil, err
	}
	h.memory = int(perPixel * float64(h.width*h.height))
	if h.memory > MaxDecodedBytes {
		return nil, h.tooLarge(fmt.Sprintf("decoding it would take %d MB of memory, and %d are allowed", h.memory/1_000_000, MaxDecodedBytes/1_000_000))
	}
	return h, nil
}

func (h *header) tooLarge(why string) error {
	return fmt.Errorf("this %s picture is too large, with %d x %d pixels (%.0f megapixels): %s. Make a smaller copy first and show that",
		formats[h.mime].name, h.width, h.height, float64(h.width)*float64(h.height)/1e6, why)
}

// cost gives the memory that decoding takes, in bytes for each pixel. It goes by
// what the decoders lay out, and was measured.
func (h *header) cost(b []byte) (float64, error) {
	switch h.mime {
	case "image/png":
		return pngCost(b), nil
	case "image/jpeg":
		h.photo = true
		return h.jpegCost(b)
	case "image/gif":
		h.animated = gifAnimated(b)
		return 1, nil
	}
	h.photo = true
	return h.webpCost(b), nil
}

// pngCost: https://www.w3.org/TR/png-3/#11IHDR says what the bytes are.
func pngCost(b []byte) float64 {
	const depth, kind, interlace = 24, 25, 28
	if len(b) <= interlace {
		return 8
	}
	cost := 4.0
	if grey, palette := b[kind] == 0, b[kind] == 3; palette || grey && !pngTransparent(b) {
		cost = 1
	}
	if b[depth] == 16 {
		cost *= 2
	}
	if b[interlace] != 0 {
		cost *= 2 // each pass is a picture of its own
	}
	return cost
}

// pngTransparent looks for a colour that is declared transparent.
func pngTransparent(b []byte) bool {
	const head, chunk, checksum = 8, 8, 4
	for pos := head; pos+chunk <= len(b); {
		switch string(b[pos+4 : pos+8]) {
		case "tRNS":
			return true
		case "IDAT":
			return false
		}
		pos += chunk + int(binary.BigEndian.Uint32(b[pos:])) + checksum
	}
	return false
}

// gifAnimated walks over the blocks of a GIF to a second frame.
func gifAnimated(b []byte) bool {
	const head = 13
	if len(b) < head {
		return false
	}
	pos, frames := head+colorTable(b[10]), 0
	for pos < len(b) {
		switch b[pos] {
		case 0x21: // an extension: a label, then blocks
			pos = skipBlocks(b, pos+2)
		case 0x2c: // a frame: its place, perhaps colours, the code size, then blocks
			if frames++; frames > 1 {
				return true
			}
			if pos+9 >= len(b) {
				return false
			}
			pos = skipBlocks(b, pos+10+colorTable(b[pos+9])+1)
		default:
			return false
		}
	}
	return false
}

func colorTable(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

func skipBlocks(b []byte, pos int) int {
	for pos < len(b) && b[pos] != 0 {
		pos += 1 + int(b[pos])
	}
	return pos + 1
}

// isCut says that a decoder met the end of the file.
func isCut(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	for _, words := range []string{"unexpected EOF", "not enough", "short Huffman data"} {
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}

var tiffOrders = map[string]binary.ByteOrder{"II*\x00": binary.LittleEndian, "MM\x00*": binary.BigEndian}

// exifOrientation reads the orientation in a JPEG's Exif segment: 1 to 8, or 0
// if it has none.
func exifOrientation(segment []byte) int {
	tiff, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00"))
	if !ok || len(tiff) < 8 {
		return 0
	}
	order, ok := tiffOrders[string(tiff[:4])]
	if !ok {
		return 0
	}
	const tag, entry = 0x0112, 12
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 0
	}
	entries := tiff[at+2:]
	for n := order.Uint16(tiff[at:]); n > 0 && len(entries) >= entry; n-- {
		if order.Uint16(entries) == tag {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 0
		}
		entries = entries[entry:]
	}
	return 0
}
