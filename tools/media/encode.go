package media

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
)

// qualities of JPEG, from the one that is wanted to the last that is still fit
// to be looked at.
var qualities = []int{85, 70, 55}

// style tells photographs, which are best as JPEG, from drawings, which are best
// as PNG.
type style int

const (
	unknown style = iota // how well it is compressed as PNG tells
	photo
	drawing
)

const (
	// photoBytes is how many bytes a pixel of a PNG takes at least if the picture
	// is a photograph: drawings and screens take less than half of it.
	photoBytes = 1.0
	// smallBytes is a PNG that is too small for JPEG to be of use.
	smallBytes = 100_000
)

// encode sets the data of a picture, made smaller until it is not too heavy.
func (p *Picture) encode(ctx context.Context, img *image.RGBA, style style) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		data, mime, err := encodeOnce(img, style)
		if err != nil {
			return err
		}
		p.Data, p.MIMEType = data, mime
		p.ShownWidth, p.ShownHeight = img.Rect.Dx(), img.Rect.Dy()
		if len(data) <= MaxShownBytes {
			return nil
		}
		w, h := p.ShownWidth, p.ShownHeight
		tw, th := fit(w, h, max(w, h)*3/4)
		if img, err = resize(ctx, img, w, h, tw, th); err != nil {
			return err
		}
	}
}

// encodeOnce encodes a picture as the format that suits it. What is partly
// transparent can only be a PNG.
func encodeOnce(img *image.RGBA, style style) (data []byte, mime string, err error) {
	if opaque := img.Opaque(); !opaque || style != photo {
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			return nil, "", err
		}
		if !opaque || b.Len() <= smallBytes || style == drawing && b.Len() <= MaxShownBytes || b.Len() <= pngLimit(img) {
			return b.Bytes(), "image/png", nil
		}
	}
	for _, quality := range qualities {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
			return nil, "", err
		}
		if data = b.Bytes(); len(data) <= MaxShownBytes {
			break
		}
	}
	return data, "image/jpeg", nil
}

func pngLimit(img *image.RGBA) int {
	return int(photoBytes * float64(img.Rect.Dx()*img.Rect.Dy()))
}
