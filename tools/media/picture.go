package media

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"runtime/debug"

	"golang.org/x/image/webp"
)

const (
	// MaxSide is the longer side of a picture that is shown, in pixels: models
	// make larger ones smaller themselves.
	MaxSide = 1568
	// MaxShownBytes is how heavy the data of a shown picture is at most. As
	// base64 it then has 5,000,000 bytes, the most that a model takes.
	MaxShownBytes = 3_750_000
	// MaxPictureBytes is how long a picture file may be.
	MaxPictureBytes = 50 << 20
	// MaxPixels is how many pixels a picture may have.
	MaxPixels = 100_000_000
	// MaxDecodedBytes is how much memory decoding a picture may take. It is a
	// stricter limit than MaxPixels for all but the cheapest kinds: see
	// [ReadPicture].
	MaxDecodedBytes = 240_000_000

	maxLongSide = 65_535 // px; JPEG has no longer ones
	bigDecode   = 32 << 20
)

// Picture is a picture as a model is to see it.
type Picture struct {
	MIMEType                string // of Data: image/png, image/jpeg, image/gif or image/webp
	Data                    []byte // at most MaxShownBytes; the file's own bytes if they fit as they are
	Width, Height           int    // of the original, in pixels, turned as it is to be seen
	ShownWidth, ShownHeight int    // of Data, in pixels, at most MaxSide
	Notes                   []string
}

// PictureType says whether [ReadPicture] takes a file that begins with head, of
// which it looks at the first 12 bytes, and of which MIME type the file is.
// Names play no part in it.
func PictureType(head []byte) (mime string, ok bool) {
	for _, m := range []struct{ magic, mime string }{
		{"\x89PNG\r\n\x1a\n", "image/png"},
		{"\xff\xd8\xff", "image/jpeg"},
		{"GIF87a", "image/gif"},
		{"GIF89a", "image/gif"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.mime, true
		}
	}
	if len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return "image/webp", true
	}
	return "", false
}

// formats gives the name and the decoder of each type.
var formats = map[string]struct {
	name   string
	decode func(io.Reader) (image.Image, error)
	config func(io.Reader) (image.Config, error)
}{
	"image/png":  {"PNG", png.Decode, png.DecodeConfig},
	"image/jpeg": {"JPEG", jpeg.Decode, jpeg.DecodeConfig},
	"image/gif":  {"GIF", gif.Decode, gif.DecodeConfig},
	"image/webp": {"WebP", webp.Decode, webp.DecodeConfig},
}

// big lets one large picture at a time be decoded, so that calls at the same
// time do not add up to more memory than the process may take.
var big = make(chan struct{}, 1)

// ReadPicture reads a PNG, JPEG, GIF or WebP file and makes it fit for a model.
//
// A picture that fits as it is keeps its bytes: at most [MaxSide] pixels on
// each side, at most [MaxShownBytes], upright, not animated, not CMYK. It is
// decoded all the same, since a model's service refuses a whole conversation
// for a damaged one. Others are scaled down with a Catmull-Rom filter, turned
// as their EXIF orientation says, and encoded as JPEG if they look like
// photographs, or as PNG if they are drawings or partly transparent. Of an
// animated GIF or WebP the first frame is shown. Notes say in sentences what was done.
//
// Memory: besides b at most about [MaxDecodedBytes] and 20 MB, estimated from
// the header before anything is decoded, and one large picture at a time in the
// process. That is enough for about 100 megapixels of JPEG as cameras write it
// (4:2:0), GIF, or PNG with a palette or in grey; 80 of JPEG 4:4:4; 60 of PNG
// in colour; 32 of progressive JPEG 4:2:0 and 16 of 4:4:4; half as much of PNG
// with 16 bits or interlaced; 24 of lossless WebP. Larger ones are refused.
// Time: up to about 5 s of a processor. The work stops after ctx ends, but a
// decoder that is not just reading may go on for up to about 3 s before.
func ReadPicture(ctx context.Context, b []byte) (p Picture, err error) {
	mime, ok := PictureType(b)
	if !ok {
		return Picture{}, fmt.Errorf("this is not a PNG, JPEG, GIF or WebP picture")
	}
	defer func() {
		if x := recover(); x != nil { // a fault of a decoder is no reason to end the process
			p, err = Picture{}, fmt.Errorf("this %s picture (%s) is damaged: %v", formats[mime].name, megabytes(len(b)), x)
		}
	}()
	if len(b) > MaxPictureBytes {
		return Picture{}, fmt.Errorf("this %s file has %s, and a picture may have at most %s", formats[mime].name, megabytes(len(b)), megabytes(MaxPictureBytes))
	}
	animated := false
	if mime == "image/webp" {
		if frame, ok := firstFrame(b); ok {
			b, animated = frame, true
		}
	}
	h, err := readHeader(mime, b)
	if err != nil {
		return Picture{}, err
	}
	h.animated = h.animated || animated
	if h.memory > bigDecode {
		select {
		case big <- struct{}{}:
			defer func() { <-big }()
		case <-ctx.Done():
			return Picture{}, context.Cause(ctx)
		}
		defer debug.FreeOSMemory() // or the next one comes on top of this one's garbage
	}
	return h.show(ctx, b)
}

// show decodes a picture and gives it as it is, or made fit.
func (h *header) show(ctx context.Context, b []byte) (Picture, error) {
	img, err := formats[h.mime].decode(&contextReader{ctx: ctx, r: bytes.NewReader(b)})
	if cause := context.Cause(ctx); cause != nil {
		return Picture{}, cause
	}
	if err != nil {
		return Picture{}, h.damaged(err)
	}
	p := Picture{MIMEType: h.mime, Data: b, Width: h.width, Height: h.height, ShownWidth: h.width, ShownHeight: h.height}
	if h.sideways() {
		p.Width, p.Height = h.height, h.width
	}
	if h.fits(len(b)) {
		return p, nil
	}
	w, height := fit(h.width, h.height, MaxSide)
	small, err := resize(ctx, img, h.width, h.height, w, height)
	if err != nil {
		return Picture{}, err
	}
	img = nil // the garbage collector may have it from here on
	err = p.encode(ctx, turn(small, h.orientation), h.style())
	p.Notes = h.notes(p)
	return p, err
}

// fits says that the file can be shown as it is.
func (h *header) fits(size int) bool {
	return max(h.width, h.height) <= MaxSide && size <= MaxShownBytes &&
		h.orientation <= 1 && !h.animated && !h.cmyk
}

func (h *header) style() style {
	switch {
	case h.photo:
		return photo
	case h.mime == "image/gif":
		return drawing
	}
	return unknown
}

func (h *header) notes(p Picture) (notes []string) {
	if h.animated {
		notes = append(notes, "This picture is animated; only its first frame is shown.")
	}
	if p.ShownWidth != p.Width || p.ShownHeight != p.Height {
		notes = append(notes, fmt.Sprintf("The picture has %d x %d pixels and is shown with %d x %d.", p.Width, p.Height, p.ShownWidth, p.ShownHeight))
	}
	if h.orientation > 1 {
		notes = append(notes, "It is turned as its EXIF orientation says.")
	}
	return notes
}

// damaged puts what a decoder says into words.
func (h *header) damaged(err error) error {
	what := "is damaged: " + err.Error()
	if isCut(err) {
		what = "is cut off or damaged: its data ends too early"
	}
	return fmt.Errorf("this %s picture (%d x %d pixels, %s) %s", formats[h.mime].name, h.width, h.height, megabytes(h.size), what)
}

// contextReader lets a decoder fail soon after its context ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b[:min(len(b), 64<<10)])
}

// megabytes writes a size as people say it.
func megabytes(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d KB", n/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
