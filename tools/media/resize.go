package media

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"math"
)

// fit gives the size of w x h in a square of the given side, not larger than it
// is.
func fit(w, h, side int) (int, int) {
	long := max(w, h)
	if long <= side {
		return w, h
	}
	scaled := func(n int) int { return max(1, int(math.Round(float64(n)*float64(side)/float64(long)))) }
	return scaled(w), scaled(h)
}

// resize scales a picture of w x h pixels down to tw x th with a Catmull-Rom
// filter as wide as the step between the new pixels, so that fine lines blur
// and do not vanish. It works on the stored values, not on linear light: so do
// browsers and the services that models run in, and dark text on white keeps
// its weight.
//
// It goes through the source row by row. golang.org/x/image/draw does the same
// sums, but keeps 32 bytes for each pixel of the source's height and the
// target's width: 400 MB for a picture of 100 megapixels.
func resize(ctx context.Context, src image.Image, w, h, tw, th int) (*image.RGBA, error) {
	dst := image.NewRGBA(image.Rect(0, 0, tw, th))
	read := rowReader(src, w)
	if tw == w && th == h {
		for y := range h {
			copy(dst.Pix[y*dst.Stride:], read(y))
		}
		return dst, nil
	}
	across, down := filters(w, tw), filters(h, th)
	narrow := make([]float32, 4*tw)
	sums := map[int][]float32{} // the rows of dst that are not finished
	first := 0
	for y := range h {
		if y%64 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		shrinkRow(narrow, read(y), across)
		for t := first; t < th && down[t].start <= y; t++ {
			sum := sums[t]
			if sum == nil {
				sum = make([]float32, 4*tw)
				sums[t] = sum
			}
			weight := down[t].weights[y-down[t].start]
			for i, v := range narrow {
				sum[i] += weight * v
			}
			if y == down[t].start+len(down[t].weights)-1 {
				finishRow(dst.Pix[t*dst.Stride:], sum)
				delete(sums, t)
				first = t + 1
			}
		}
	}
	return dst, nil
}

// filter is what one new pixel takes of the old ones, from start on.
type filter struct {
	start   int
	weights []float32
}

// filters gives a filter for each of the new pixels of a row or a column.
func filters(from, to int) []filter {
	step := float64(from) / float64(to)
	reach := 2 * step
	all := make([]filter, to)
	for i := range all {
		center := (float64(i) + 0.5) * step
		start := max(0, int(math.Floor(center-reach)))
		end := min(from, int(math.Ceil(center+reach)))
		f := filter{start: start, weights: make([]float32, end-start)}
		sum := 0.0
		for k := range f.weights {
			w := catmullRom((float64(start+k) + 0.5 - center) / step)
			f.weights[k] = float32(w)
			sum += w
		}
		for k := range f.weights {
			f.weights[k] /= float32(sum)
		}
		all[i] = f
	}
	return all
}

func catmullRom(t float64) float64 {
	switch t = math.Abs(t); {
	case t < 1:
		return (1.5*t-2.5)*t*t + 1
	case t < 2:
		return ((-0.5*t+2.5)*t-4)*t + 2
	}
	return 0
}

func shrinkRow(dst []float32, row []byte, across []filter) {
	for x, f := range across {
		var r, g, b, a float32
		pix := row[4*f.start : 4*(f.start+len(f.weights))]
		for _, w := range f.weights {
			p := pix[:4:4]
			r += w * float32(p[0])
			g += w * float32(p[1])
			b += w * float32(p[2])
			a += w * float32(p[3])
			pix = pix[4:]
		}
		out := dst[4*x : 4*x+4 : 4*x+4]
		out[0], out[1], out[2], out[3] = r, g, b, a
	}
}

// finishRow rounds. The filter's negative parts overshoot at edges, and a colour
// must not be more than its alpha.
func finishRow(dst []byte, sums []float32) {
	for i := 0; i < len(sums); i += 4 {
		a := min(max(sums[i+3], 0), 255)
		for c := range 3 {
			dst[i+c] = byte(min(max(sums[i+c], 0), a) + 0.5)
		}
		dst[i+3] = byte(a + 0.5)
	}
}

// rowReader gives the rows of a picture of w pixels as RGBA with premultiplied
// alpha, each in the same memory. The first frame of a GIF may be smaller than
// the GIF; around it all is transparent.
func rowReader(src image.Image, w int) func(y int) []byte {
	row := image.NewRGBA(image.Rect(0, 0, w, 1))
	b := src.Bounds()
	paletted, ok := src.(*image.Paletted)
	if !ok || len(paletted.Palette) > 256 {
		return func(y int) []byte {
			draw.Draw(row, row.Rect, src, image.Pt(b.Min.X, b.Min.Y+y), draw.Src)
			return row.Pix
		}
	}
	var colors [256]color.RGBA
	for i, c := range paletted.Palette {
		colors[i] = color.RGBAModel.Convert(c).(color.RGBA)
	}
	return func(y int) []byte {
		clear(row.Pix)
		if y < b.Min.Y || y >= b.Max.Y {
			return row.Pix
		}
		at := 4 * b.Min.X
		for _, i := range paletted.Pix[paletted.PixOffset(b.Min.X, y):][:b.Dx()] {
			c := colors[i]
			row.Pix[at], row.Pix[at+1], row.Pix[at+2], row.Pix[at+3] = c.R, c.G, c.B, c.A
			at += 4
		}
		return row.Pix
	}
}

// turn makes a picture upright that is stored with the given EXIF orientation.
func turn(src *image.RGBA, orientation int) *image.RGBA {
	if orientation <= 1 {
		return src
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	tw, th := w, h
	if orientation >= 5 {
		tw, th = h, w
	}
	dst := image.NewRGBA(image.Rect(0, 0, tw, th))
	for y := range th {
		for x := range tw {
			sx, sy := turned(orientation, x, y, w, h)
			copy(dst.Pix[dst.PixOffset(x, y):][:4], src.Pix[src.PixOffset(sx, sy):][:4])
		}
	}
	return dst
}

// turned gives where in the stored picture of w x h the pixel at x, y is.
func turned(orientation, x, y, w, h int) (int, int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	}
	return w - 1 - y, x
}
