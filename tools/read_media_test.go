package tools

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func pngOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.String()
}

func TestReadFileShowsAPictureWhateverItsName(t *testing.T) {
	small := pngOf(t, 3, 2)
	p := newPlace(t, map[string]string{"small.txt": small, "large.png": pngOf(t, 3000, 10)})
	res := p.call("read_file", map[string]any{"file_path": "small.txt"})
	require.False(t, res.IsError, res.Text)
	require.Equal(t, "small.txt: image/png, 3 × 2 px", res.Text)
	require.Equal(t, []Image{{MIMEType: "image/png", Data: []byte(small)}}, res.Images)

	res = p.call("read_file", map[string]any{"file_path": "large.png"})
	require.Contains(t, res.Text, "large.png: image/png, 3000 × 10 px\n[The picture has 3000 x 10 pixels and is shown with 1568 x 5.]")
	shown, err := png.Decode(bytes.NewReader(res.Images[0].Data))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 1568, 5), shown.Bounds())
	require.Contains(t, p.fails("write_file", map[string]any{"file_path": "small.txt", "content": "x"}), "not overwritten unseen")
}

// pdfOf is a PDF with a page for each text.
func pdfOf(texts ...string) string {
	var b strings.Builder
	var at []int
	add := func(format string, a ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(at))
		fmt.Fprintf(&b, format, a...)
		b.WriteString("\nendobj\n")
	}
	b.WriteString("%PDF-1.4\n")
	add("<< /Type /Catalog /Pages 2 0 R >>")
	var kids []string
	for i := range texts {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
	}
	add("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(texts))
	add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for i, text := range texts {
		add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Resources << /Font << /F 3 0 R >> >> /Contents %d 0 R >>", 5+2*i)
		body := "BT /F 12 Tf 20 200 Td (" + text + ") Tj ET"
		add("<< /Length %d >>\nstream\n%s\nendstream", len(body), body)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, xref)
	return b.String()
}

func TestReadFileShowsThePagesOfAPDF(t *testing.T) {
	p := newPlace(t, map[string]string{"a.pdf": pdfOf("first page", "second page", "third page"), "broken.pdf": "%PDF-1.4\nnothing\n", "a.txt": "x\n"})
	all := p.ok("read_file", map[string]any{"file_path": "a.pdf"})
	for _, text := range []string{"first page", "second page", "third page", "page 3 of 3"} {
		require.Contains(t, all, text)
	}
	one := p.ok("read_file", map[string]any{"file_path": "a.pdf", "pages": "2"})
	require.Contains(t, one, "second page")
	require.NotContains(t, one, "first page")
	require.Contains(t, p.fails("read_file", map[string]any{"file_path": "a.pdf", "pages": "9"}), "Error reading file: a.pdf: ")
	require.Contains(t, p.fails("read_file", map[string]any{"file_path": "a.pdf", "pages": "x"}), "pages")
	require.Contains(t, p.fails("read_file", map[string]any{"file_path": "broken.pdf"}), "Error reading file: broken.pdf: ")
	require.Contains(t, p.ok("read_file", map[string]any{"file_path": "a.txt", "pages": "1"}), "[ignored pages: it is for PDF files]")
}

func TestReadFileReadsOlderEncodings(t *testing.T) {
	gbk := "n = 4\n# \xca\xfd\xbe\xdd\xbf\xe2\n" // 数据库
	p := newPlace(t, map[string]string{"a.txt": gbk, "b.txt": "caf\xe9\n", "cut.txt": "caf\xc3\xa9 na\xc3"})
	require.Equal(t, "   1 | n = 4\n   2 | # 数据库\n[encoding: GBK]", p.ok("read_file", map[string]any{"file_path": "a.txt"}))
	p.ok("edit_file", map[string]any{"file_path": "a.txt", "old_string": "n = 4", "new_string": "n = 5"})
	require.Equal(t, strings.Replace(gbk, "4", "5", 1), p.file("a.txt"), "the other bytes are as they were")
	p.ok("edit_file", map[string]any{"file_path": "a.txt", "old_string": "数据库", "new_string": "数据"})
	require.Equal(t, "n = 5\n# \xca\xfd\xbe\xdd\n", p.file("a.txt"))
	require.Contains(t, p.fails("edit_file", map[string]any{"file_path": "a.txt", "old_string": "数据", "new_string": "😀"}), "U+1F600")

	require.Equal(t, "   1 | café\n[encoding: ISO-8859-1]", p.ok("read_file", map[string]any{"file_path": "b.txt", "encoding": "latin1"}))
	p.ok("edit_file", map[string]any{"file_path": "b.txt", "old_string": "é", "new_string": "ée"})
	require.Equal(t, "caf\xe9e\n", p.file("b.txt"), "in the encoding that was named")
	require.Contains(t, p.fails("read_file", map[string]any{"file_path": "b.txt", "encoding": "klingon"}), "encoding klingon is not known; there are UTF-8, ")
	require.Contains(t, p.fails("read_file", map[string]any{"file_path": "cut.txt"}), "is not UTF-8 text: byte 8 (line 1) does not fit", "what is cut is not repaired")
}
