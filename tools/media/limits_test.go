package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pngHead is a PNG that promises a size and then ends.
func pngHead(w, h uint32, depth, kind, interlace byte) []byte {
	ihdr := binary.BigEndian.AppendUint32([]byte("IHDR"), w)
	ihdr = binary.BigEndian.AppendUint32(ihdr, h)
	ihdr = append(ihdr, depth, kind, 0, 0, interlace)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), ihdr...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(ihdr))
}

// jpegHead is a JPEG that promises a size; marker 0xc2 is a progressive one.
func jpegHead(w, h uint16, marker byte, sampling byte) []byte {
	b := []byte{0xff, 0xd8, 0xff, marker, 0, 17, 8}
	b = binary.BigEndian.AppendUint16(b, h)
	b = binary.BigEndian.AppendUint16(b, w)
	return append(b, 3, 1, sampling, 0, 2, 0x11, 0, 3, 0x11, 0, 0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0)
}

// TestTooLarge: what decoding would cost is known from the header, and refused.
func TestTooLarge(t *testing.T) {
	for why, tt := range map[string]struct {
		b    []byte
		says string
	}{
		"too many pixels":        {pngHead(20_000, 20_000, 8, 2, 0), "20000 x 20000 pixels (400 megapixels): a picture may have at most 100 megapixels"},
		"pixels beyond 32 bits":  {pngHead(1<<31-1, 1<<31-1, 1, 0, 0), "damaged at its beginning"},
		"a side too long":        {pngHead(100_000, 1, 8, 2, 0), "65535 pixels on a side"},
		"PNG in colour":          {pngHead(8_000, 8_000, 8, 2, 0), "256 MB of memory, and 240 are allowed"},
		"PNG of 16 bits":         {pngHead(6_000, 6_000, 16, 6, 0), "288 MB"},
		"PNG, interlaced":        {pngHead(6_000, 6_000, 8, 6, 1), "288 MB"},
		"JPEG 4:4:4":             {jpegHead(10_000, 10_000, 0xc0, 0x11), "300 MB"},
		"JPEG, progressive":      {jpegHead(6_000, 6_000, 0xc2, 0x22), "270 MB"},
		"GIF of many pixels":     {[]byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"), "65535 x 65535 pixels (4295 megapixels)"},
		"WebP of many pixels":    {[]byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\xff\xff\x00\xff\x3f\x00"), "(1074 megapixels)"},
		"lossless WebP":          {[]byte("RIFF\x12\x00\x00\x00WEBPVP8L\x05\x00\x00\x00\x2f\xff\x17\xff\x05\x00"), "MB of memory"},
		"a JPEG of many passes":  {append(jpegHead(100, 100, 0xc2, 0x11), bytes.Repeat([]byte{0xff, 0xda, 0, 2, 1, 2, 3}, 500)...), "stored in 501 passes"},
		"fewer, but large ones":  {append(jpegHead(5000, 5000, 0xc2, 0x22), bytes.Repeat([]byte{0xff, 0xda, 0, 2, 1, 2, 3}, 60)...), "stored in 61 passes"},
		"a file that is too big": {append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, MaxPictureBytes)...), "a picture may have at most 52.4 MB"},
	} {
		t.Run(why, func(t *testing.T) {
			_, err := ReadPicture(t.Context(), tt.b)
			require.Error(t, err)
			assert.Contains(t, err.Error(), tt.says)
		})
	}
}

func TestDamaged(t *testing.T) {
	r := image.Rect(0, 0, 300, 200)
	whole := map[string][]byte{
		"PNG": pngOf(t, noise(image.NewNRGBA(r))), "JPEG": jpegOf(t, noise(image.NewNRGBA(r))), "GIF": gifOf(t, r, r),
		"WebP": testdata(t, "lossy.webp"),
	}
	for name, b := range whole {
		t.Run(name, func(t *testing.T) {
			_, err := ReadPicture(t.Context(), b[:len(b)*2/3])
			require.Error(t, err)
			assert.Contains(t, err.Error(), "this "+name+" picture (")
			assert.Contains(t, err.Error(), "cut off")
			_, err = ReadPicture(t.Context(), b[:14])
			require.Error(t, err)
		})
	}
	for why, tt := range map[string]struct {
		b    []byte
		says string
	}{
		"nothing":          {nil, "not a PNG, JPEG, GIF or WebP picture"},
		"text":             {[]byte("hello"), "not a PNG"},
		"PNG of no width":  {pngHead(0, 5, 8, 2, 0), "this PNG picture"},
		"GIF of no size":   {[]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00;"), "has no pixels (0 x 0)"},
		"GIF of no frames": {[]byte("GIF89a\x05\x00\x05\x00\x00\x00\x00;"), "this GIF picture (5 x 5 pixels, 14 bytes) is damaged"},
		"a flipped bit":    {flipped(whole["PNG"]), "this PNG picture (300 x 200 pixels, 240 KB) is damaged: png: invalid format: invalid checksum"},
	} {
		t.Run(why, func(t *testing.T) {
			_, err := ReadPicture(t.Context(), tt.b)
			require.Error(t, err)
			assert.Contains(t, err.Error(), tt.says)
		})
	}
}

func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	b[len(b)/2] ^= 1
	return b
}

// TestCost: the estimates go by what a file is.
func TestCost(t *testing.T) {
	r := image.Rect(0, 0, 16, 12)
	for why, tt := range map[string]struct {
		b    []byte
		want float64
	}{
		"PNG":              {pngOf(t, halves(image.NewNRGBA(r))), 4},
		"PNG, 16 bits":     {pngOf(t, halves(image.NewNRGBA64(r))), 8},
		"PNG, grey":        {pngOf(t, image.NewGray(r)), 1},
		"grey, 16 bits":    {pngOf(t, image.NewGray16(r)), 2},
		"PNG, interlaced":  {testdata(t, "interlaced.png"), 2},
		"JPEG":             {jpegOf(t, halves(image.NewRGBA(r))), 1.5},
		"JPEG, grey":       {jpegOf(t, image.NewGray(r)), 1},
		"JPEG progressive": {testdata(t, "progressive.jpg"), 15},
		"JPEG, CMYK":       {testdata(t, "cmyk.jpg"), 8},
		"GIF":              {gifOf(t, r, r), 1},
		"WebP, lossy":      {testdata(t, "lossy.webp"), 1.6},
		"WebP, lossless":   {testdata(t, "lossless.webp"), 10},
		"WebP, alpha":      {testdata(t, "alpha.webp"), 12},
	} {
		mime, _ := PictureType(tt.b)
		h := &header{mime: mime}
		got, err := h.cost(tt.b)
		require.NoError(t, err)
		assert.InDelta(t, tt.want, got, 0.01, why)
	}
	transparent := pngHead(5, 5, 8, 0, 0)
	assert.InDelta(t, 1, pngCost(transparent), 0)
	assert.InDelta(t, 4, pngCost(append(transparent, "\x00\x00\x00\x02tRNS"...)), 0)
}

// TestResizeKeepsTones: an even colour stays exact, and a fine pattern becomes
// its mean.
func TestResizeKeepsTones(t *testing.T) {
	even := image.NewGray(image.Rect(0, 0, 900, 601))
	fine := image.NewGray(even.Rect)
	for i := range even.Pix {
		even.Pix[i] = 137
		fine.Pix[i] = byte((i%even.Stride + i/even.Stride) % 2 * 200)
	}
	for why, tt := range map[string]struct {
		src  *image.Gray
		want float64
		off  float64
	}{"even": {even, 137, 0}, "fine": {fine, 100, 20}} {
		m, err := resize(t.Context(), tt.src, 900, 601, 300, 200)
		require.NoError(t, err)
		for i := 0; i < len(m.Pix); i += 4 {
			if math.Abs(float64(m.Pix[i])-tt.want) > tt.off || m.Pix[i+3] != 255 {
				t.Fatalf("%s: pixel %d is %v", why, i/4, m.Pix[i:i+4])
			}
		}
	}
}

func TestFilters(t *testing.T) {
	for _, size := range [][2]int{{10, 3}, {7, 7}, {1569, 1568}, {65535, 1}, {2, 1}} {
		all := filters(size[0], size[1])
		for i, f := range all {
			sum := float32(0)
			for _, w := range f.weights {
				sum += w
			}
			assert.InDelta(t, 1, sum, 1e-3)
			assert.True(t, f.start >= 0 && f.start+len(f.weights) <= size[0])
			assert.True(t, i == 0 || f.start >= all[i-1].start, "resize finishes rows in order")
			assert.True(t, i == 0 || f.start+len(f.weights) >= all[i-1].start+len(all[i-1].weights))
		}
	}
}

// BenchmarkRead12MP is a camera's picture: 12 megapixels of JPEG.
func BenchmarkRead12MP(b *testing.B) {
	m := nrgba(4000, 3000)
	for i := range m.Pix {
		m.Pix[i] = byte(i >> 8)
	}
	data := jpegOf(b, m)
	b.ReportAllocs()
	for b.Loop() {
		_, err := ReadPicture(context.Background(), data)
		require.NoError(b, err)
	}
}

func TestMegabytes(t *testing.T) {
	for n, want := range map[int]string{0: "0 bytes", 999: "999 bytes", 1000: "1 KB", 3_750_000: "3.8 MB", 50 << 20: "52.4 MB"} {
		assert.Equal(t, want, megabytes(n))
	}
}

// TestOneAtATime: a large picture waits for the one before it, but not longer
// than its context lasts.
func TestOneAtATime(t *testing.T) {
	big <- struct{}{}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("no time left"))
	_, err := ReadPicture(ctx, pngHead(4000, 4000, 8, 2, 0))
	<-big
	require.ErrorContains(t, err, "no time left")

	_, err = ReadPicture(t.Context(), pngHead(4000, 4000, 8, 2, 0))
	require.ErrorContains(t, err, "cut off")
	assert.Empty(t, big, "it is given back")
}

func TestPNGOfPaletteIsSmall(t *testing.T) {
	m := nrgba(2400, 800) // a drawing: few colours, sharp lines
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	for i := 0; i < 800; i += 40 {
		for x := range 2400 {
			m.Set(x, i, red)
		}
	}
	p := read(t, pngOf(t, m))
	assert.Equal(t, "image/png", p.MIMEType)
	_, err := png.Decode(bytes.NewReader(p.Data))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(p.Notes[0], "The picture has 2400 x 800 pixels"))
}
