package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	red  = color.NRGBA{255, 0, 0, 255}
	blue = color.NRGBA{0, 0, 255, 255}
)

// halves is red on its left and blue on its right side.
func halves(m draw.Image) draw.Image {
	b := m.Bounds()
	middle := (b.Min.X + b.Max.X) / 2
	draw.Draw(m, b, image.NewUniform(blue), image.Point{}, draw.Src)
	draw.Draw(m, image.Rect(b.Min.X, b.Min.Y, middle, b.Max.Y), image.NewUniform(red), image.Point{}, draw.Src)
	return m
}

func nrgba(w, h int) *image.NRGBA { return image.NewNRGBA(image.Rect(0, 0, w, h)) }

func noise(m *image.NRGBA) *image.NRGBA {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32())
	}
	return m
}

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m))
	return b.Bytes()
}

func jpegOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 90}))
	return b.Bytes()
}

func gifOf(t testing.TB, canvas image.Rectangle, frames ...image.Rectangle) []byte {
	t.Helper()
	g := gif.GIF{Config: image.Config{Width: canvas.Dx(), Height: canvas.Dy()}}
	for _, r := range frames {
		m := image.NewPaletted(r, color.Palette{red, blue, color.Transparent})
		g.Image = append(g.Image, halves(m).(*image.Paletted))
		g.Delay = append(g.Delay, 1)
	}
	var b bytes.Buffer
	require.NoError(t, gif.EncodeAll(&b, &g))
	return b.Bytes()
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return b
}

func read(t *testing.T, b []byte) Picture {
	t.Helper()
	p, err := ReadPicture(t.Context(), b)
	require.NoError(t, err)
	mime, ok := PictureType(p.Data)
	assert.True(t, ok)
	assert.Equal(t, mime, p.MIMEType)
	assert.LessOrEqual(t, len(p.Data), MaxShownBytes)
	assert.LessOrEqual(t, max(p.ShownWidth, p.ShownHeight), MaxSide)
	config, err := formats[mime].config(bytes.NewReader(p.Data))
	require.NoError(t, err)
	assert.Equal(t, [2]int{p.ShownWidth, p.ShownHeight}, [2]int{config.Width, config.Height})
	return p
}

func shown(t *testing.T, p Picture) image.Image {
	t.Helper()
	m, err := formats[p.MIMEType].decode(bytes.NewReader(p.Data))
	require.NoError(t, err)
	return m
}

// near compares colours as far as JPEG keeps them.
func near(t *testing.T, want, got color.Color, where string) {
	t.Helper()
	w, g := color.NRGBAModel.Convert(want).(color.NRGBA), color.NRGBAModel.Convert(got).(color.NRGBA)
	for i, d := range []int{int(w.R) - int(g.R), int(w.G) - int(g.G), int(w.B) - int(g.B), int(w.A) - int(g.A)} {
		if d < -12 || d > 12 {
			t.Errorf("%s: channel %d: want %v, got %v", where, i, w, g)
			return
		}
	}
}

func TestPictureType(t *testing.T) {
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n": "image/png", "\xff\xd8\xff\xe0": "image/jpeg", "GIF89a": "image/gif", "GIF87a": "image/gif",
		"RIFF\x00\x00\x00\x00WEBPVP8 ": "image/webp", "RIFF\x00\x00\x00\x00WAVE": "", "RIFF": "", "": "", "\x89PNG": "", "GIF": "", "<svg/>": "",
	} {
		mime, ok := PictureType([]byte(head))
		assert.Equal(t, want, mime, "%q", head)
		assert.Equal(t, want != "", ok, "%q", head)
	}
}

// TestUnchanged: what fits keeps its bytes, of all kinds.
func TestUnchanged(t *testing.T) {
	r := image.Rect(0, 0, 40, 30)
	for why, b := range map[string][]byte{
		"PNG":                   pngOf(t, halves(image.NewNRGBA(r))),
		"PNG without alpha":     pngOf(t, halves(image.NewRGBA(r))),
		"PNG with alpha":        pngOf(t, image.NewNRGBA(r)),
		"PNG of 16 bits":        pngOf(t, halves(image.NewNRGBA64(r))),
		"PNG in grey":           pngOf(t, halves(image.NewGray(r))),
		"PNG in grey, 16 bits":  pngOf(t, halves(image.NewGray16(r))),
		"PNG with a palette":    pngOf(t, halves(image.NewPaletted(r, color.Palette{red, blue}))),
		"PNG, interlaced":       testdata(t, "interlaced.png"),
		"PNG, as large as fits": pngOf(t, halves(nrgba(MaxSide, 3))),
		"JPEG":                  jpegOf(t, halves(image.NewRGBA(r))),
		"JPEG in grey":          jpegOf(t, halves(image.NewGray(r))),
		"JPEG, progressive":     testdata(t, "progressive.jpg"),
		"JPEG, upright":         withOrientation(jpegOf(t, halves(image.NewRGBA(r))), 1, binary.BigEndian),
		"GIF":                   gifOf(t, r, r),
		"WebP, lossy":           testdata(t, "lossy.webp"),
		"WebP, lossless":        testdata(t, "lossless.webp"),
		"WebP with alpha":       testdata(t, "alpha.webp"),
		"one pixel":             pngOf(t, nrgba(1, 1)),
	} {
		t.Run(why, func(t *testing.T) {
			p := read(t, b)
			assert.Equal(t, b, p.Data)
			assert.Empty(t, p.Notes)
			assert.Equal(t, [2]int{p.Width, p.Height}, [2]int{p.ShownWidth, p.ShownHeight})
		})
	}
}

// TestScaled: what does not fit is made smaller, of all kinds.
func TestScaled(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement in which nothing runs at the same time: the race detector, for which -short stands, finds nothing in it")
	}
	r := image.Rect(0, 0, 2000, 500)
	jpg, pngType := "image/jpeg", "image/png"
	for why, tt := range map[string]struct {
		b    []byte
		mime string
	}{
		"PNG":            {pngOf(t, halves(image.NewNRGBA(r))), pngType},
		"PNG of 16 bits": {pngOf(t, halves(image.NewNRGBA64(r))), pngType},
		"PNG in palette": {pngOf(t, halves(image.NewPaletted(r, color.Palette{blue, red}))), pngType},
		"JPEG":           {jpegOf(t, halves(image.NewRGBA(r))), jpg},
		"GIF":            {gifOf(t, r, r), pngType},
	} {
		t.Run(why, func(t *testing.T) {
			p := read(t, tt.b)
			assert.Equal(t, tt.mime, p.MIMEType)
			assert.Equal(t, [4]int{2000, 500, MaxSide, 392}, [4]int{p.Width, p.Height, p.ShownWidth, p.ShownHeight})
			assert.Equal(t, []string{"The picture has 2000 x 500 pixels and is shown with 1568 x 392."}, p.Notes)
			m := shown(t, p)
			near(t, red, m.At(5, 5), "left")
			near(t, red, m.At(779, 391), "left of the middle")
			near(t, blue, m.At(789, 0), "right of the middle")
			near(t, blue, m.At(1567, 391), "right")
		})
	}
}

func TestLongAndThin(t *testing.T) {
	p := read(t, pngOf(t, halves(nrgba(40_000, 2))))
	assert.Equal(t, [2]int{MaxSide, 1}, [2]int{p.ShownWidth, p.ShownHeight})
	p = read(t, pngOf(t, nrgba(1, 20_000)))
	assert.Equal(t, [2]int{1, MaxSide}, [2]int{p.ShownWidth, p.ShownHeight})
}

func TestAlphaIsKept(t *testing.T) {
	m := nrgba(1600, 100)
	draw.Draw(m, m.Rect, image.NewUniform(color.NRGBA{200, 100, 0, 128}), image.Point{}, draw.Src)
	p := read(t, pngOf(t, m))
	assert.Equal(t, "image/png", p.MIMEType)
	near(t, color.NRGBA{200, 100, 0, 128}, shown(t, p).At(700, 50), "middle")
}

func TestHeavy(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement in which nothing runs at the same time: the race detector, for which -short stands, finds nothing in it")
	}
	t.Run("with alpha", func(t *testing.T) {
		p := read(t, pngOf(t, noise(nrgba(1200, 1000))))
		assert.Equal(t, "image/png", p.MIMEType)
		assert.Less(t, p.ShownWidth, 1200)
		assert.Len(t, p.Notes, 1)
	})
	t.Run("without", func(t *testing.T) {
		m := image.NewRGBA(image.Rect(0, 0, 1200, 1200))
		draw.Draw(m, m.Rect, noise(nrgba(1200, 1200)), image.Point{}, draw.Src)
		for i := 3; i < len(m.Pix); i += 4 {
			m.Pix[i] = 255
		}
		p := read(t, pngOf(t, m))
		assert.Equal(t, "image/jpeg", p.MIMEType)
		assert.Equal(t, 1200, p.ShownWidth)
	})
}

func TestCMYK(t *testing.T) {
	p := read(t, testdata(t, "cmyk.jpg"))
	assert.Equal(t, "image/jpeg", p.MIMEType)
	m := shown(t, p)
	assert.Equal(t, color.YCbCrModel, m.ColorModel(), "no model's service need know CMYK")
	r, _, b, _ := m.At(2, 5).RGBA()
	assert.Greater(t, r, 3*b/2, "red")
}

func TestAnimated(t *testing.T) {
	canvas := image.Rect(0, 0, 40, 30)
	p := read(t, gifOf(t, canvas, canvas, canvas))
	assert.Equal(t, "image/png", p.MIMEType)
	assert.Equal(t, []string{"This picture is animated; only its first frame is shown."}, p.Notes)
	near(t, red, shown(t, p).At(1, 1), "left")

	t.Run("a first frame that is smaller", func(t *testing.T) {
		p := read(t, gifOf(t, canvas, image.Rect(10, 10, 30, 20), canvas))
		m := shown(t, p)
		near(t, color.Transparent, m.At(1, 1), "outside")
		near(t, red, m.At(11, 11), "left")
		near(t, blue, m.At(28, 18), "right")
	})
	t.Run("WebP", func(t *testing.T) {
		p := read(t, testdata(t, "animated.webp"))
		assert.Equal(t, "image/png", p.MIMEType)
		assert.Len(t, p.Notes, 1)
		near(t, red, shown(t, p).At(1, 1), "left")
	})
}

// withOrientation puts an Exif segment into a JPEG.
func withOrientation(b []byte, orientation uint16, order binary.AppendByteOrder) []byte {
	tiff := []byte("MM\x00*")
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		tiff = []byte("II*\x00")
	}
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, entry := range [][2]uint16{{0x0100, 7}, {0x0112, orientation}} {
		tiff = order.AppendUint16(tiff, entry[0])
		tiff = order.AppendUint16(tiff, 3)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint16(tiff, entry[1])
		tiff = append(tiff, 0, 0)
	}
	segment := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{}, b[:2]...)
	out = append(out, 0xff, 0xe1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(segment)+2))
	return append(append(out, segment...), b[2:]...)
}

// TestOrientation: the stored picture has a red corner at its top left; where it
// is to be seen is what the Exif standard says of each value.
func TestOrientation(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 64, 32))
	draw.Draw(m, m.Rect, image.NewUniform(blue), image.Point{}, draw.Src)
	draw.Draw(m, image.Rect(0, 0, 32, 16), image.NewUniform(red), image.Point{}, draw.Src)
	stored := jpegOf(t, m)
	const left, right, top, bottom = false, true, false, true
	for orientation, corner := range map[uint16][2]bool{
		2: {right, top}, 3: {right, bottom}, 4: {left, bottom}, 5: {left, top}, 6: {right, top}, 7: {right, bottom}, 8: {left, bottom},
	} {
		t.Run(fmt.Sprint(orientation), func(t *testing.T) {
			order := binary.AppendByteOrder(binary.BigEndian)
			if orientation%2 == 0 {
				order = binary.LittleEndian
			}
			p := read(t, withOrientation(stored, orientation, order))
			w, h := 64, 32
			if orientation >= 5 {
				w, h = 32, 64
			}
			require.Equal(t, [4]int{w, h, w, h}, [4]int{p.Width, p.Height, p.ShownWidth, p.ShownHeight})
			assert.Equal(t, []string{"It is turned as its EXIF orientation says."}, p.Notes)
			for _, c := range [][2]bool{{left, top}, {right, top}, {left, bottom}, {right, bottom}} {
				x, y := 4, 4
				if c[0] {
					x = w - 5
				}
				if c[1] {
					y = h - 5
				}
				want := blue
				if c == corner {
					want = red
				}
				near(t, want, shown(t, p).At(x, y), fmt.Sprint(c))
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ReadPicture(ctx, pngOf(t, nrgba(2000, 2000)))
	assert.ErrorIs(t, err, context.Canceled)
}

func FuzzPicture(f *testing.F) {
	r := image.Rect(0, 0, 9, 7)
	f.Add(pngOf(f, halves(image.NewNRGBA(r))))
	f.Add(withOrientation(jpegOf(f, halves(image.NewRGBA(r))), 6, binary.BigEndian))
	f.Add(gifOf(f, r, r, r))
	for _, name := range []string{"cmyk.jpg", "progressive.jpg", "interlaced.png", "lossy.webp", "lossless.webp", "alpha.webp", "animated.webp"} {
		f.Add(testdata(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		start := time.Now()
		// The checksums of a PNG would keep the fuzzer out of it.
		p, err := ReadPicture(t.Context(), fixChecksums(b))
		if err == nil && (max(p.ShownWidth, p.ShownHeight) > MaxSide || len(p.Data) > MaxShownBytes) {
			t.Fatalf("%+v", p.Notes)
		}
		if d := time.Since(start); d > 30*time.Second {
			t.Fatalf("took %v", d)
		}
	})
}

func fixChecksums(b []byte) []byte {
	if mime, _ := PictureType(b); mime != "image/png" {
		return b
	}
	b = bytes.Clone(b)
	for pos := 8; pos+12 <= len(b); {
		n := int(binary.BigEndian.Uint32(b[pos:]))
		if n > len(b)-pos-12 {
			break
		}
		binary.BigEndian.PutUint32(b[pos+8+n:], crc32.ChecksumIEEE(b[pos+4:pos+8+n]))
		pos += 12 + n
	}
	return b
}
