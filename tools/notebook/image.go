package notebook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

const (
	// MaxImages is how many images a page has at most.
	MaxImages = 8
	// MaxImageBytes is how large an image on a page may be.
	MaxImageBytes = 5 << 20
)

// An Image is a picture that the notebook holds, decoded.
type Image struct {
	MIMEType string // image/png or image/jpeg, by what the bytes are
	Data     []byte
	Cell     int // the index of the cell
}

// image is the line that stands for a picture; one that can be shown is added to those
// of the cell.
func (v *view) image(mime string, at span) string {
	if v.imagesBefore+len(v.images) >= MaxImages {
		where := ""
		if !v.cutting { // it is not the first cell of the page, so as the first it shows more
			where = fmt.Sprintf("; offset=%d shows it", v.index)
		}
		return fmt.Sprintf("%s, about %s: not shown, a page has %d images%s", mime, byteSize((at.end-at.start)*3/4), MaxImages, where)
	}
	if size := (at.end - at.start) * 3 / 4; size > 2*MaxImageBytes {
		return fmt.Sprintf("%s, about %s: not shown, larger than %s", mime, byteSize(size), byteSize(MaxImageBytes))
	}
	data, err := decodeImage(textOf(v.n.text, at))
	if err != nil {
		return fmt.Sprintf("%s: not shown, %v", mime, err)
	}
	kind := imageKind(data)
	switch {
	case kind == "":
		return fmt.Sprintf("%s, %s: not shown, the bytes are neither PNG nor JPEG", mime, byteSize(len(data)))
	case len(data) > MaxImageBytes:
		return fmt.Sprintf("%s, %s: not shown, larger than %s", mime, byteSize(len(data)), byteSize(MaxImageBytes))
	}
	v.images = append(v.images, Image{MIMEType: kind, Data: data, Cell: v.index})
	return fmt.Sprintf("%s, %s, image %d", mime, byteSize(len(data)), v.imagesBefore+len(v.images))
}

// decodeImage reads base64 in lines or not, with its padding or without.
func decodeImage(s string) ([]byte, error) {
	s = strings.NewReplacer("\n", "", "\r", "", " ", "", "\t", "").Replace(s)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return nil, errors.New("bad base64")
	}
	return data, nil
}

// imageKind tells what an image is by its first bytes: models refuse a message with an
// image that is not what it is said to be.
func imageKind(data []byte) string {
	switch {
	case strings.HasPrefix(string(data[:min(len(data), 8)]), "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(string(data[:min(len(data), 3)]), "\xff\xd8\xff"):
		return "image/jpeg"
	}
	return ""
}
