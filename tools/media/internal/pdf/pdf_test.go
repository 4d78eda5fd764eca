package pdf

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "mcp-tools/tools/media/internal/pdftest"
)

const hello = "BT /F1 12 Tf 50 700 Td (Hello) Tj ET"

func opened(t *testing.T, data []byte) *File {
	t.Helper()
	f, err := Open(t.Context(), data)
	require.NoError(t, err)
	return f
}

func pageText(t *testing.T, f *File, n int) string {
	t.Helper()
	p, err := f.Text(n, 100_000)
	require.NoError(t, err)
	return p.Text
}

func text(t *testing.T, data []byte) string {
	t.Helper()
	return pageText(t, opened(t, data), 1)
}

func TestPagesInOrder(t *testing.T) {
	f := opened(t, Pages(hello, "BT /F1 12 Tf (two) Tj ET", ""))
	assert.Equal(t, 3, f.Pages())
	assert.Equal(t, "Hello", pageText(t, f, 1))
	assert.Equal(t, "two", pageText(t, f, 2))
	assert.Empty(t, pageText(t, f, 3))
}

func TestNestedPageTree(t *testing.T) {
	f := opened(t, Build("", Catalog, "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 99>>",
		"<</Type/Pages/Parent 2 0 R/Kids[5 0 R]/Count 1/Resources<</Font<</F1 6 0 R>>>>>>",
		"<</Type/Page/Parent 2 0 R>>",
		"<</Type/Page/Parent 3 0 R/Contents[7 0 R 8 0 R]>>", Helv,
		Stream("", "BT /F1 12 Tf (Hel"), Stream("", "lo) Tj ET")))
	assert.Equal(t, 2, f.Pages(), "the counts in the file are not believed")
	assert.Equal(t, "Hel\nlo", strings.ReplaceAll(pageText(t, f, 1), " ", "\n"), "resources are inherited, streams are one")
}

func TestObjectStreams(t *testing.T) {
	data := Packed(Catalog, OnePage, FirstPage, Flate("", hello), Helv)
	assert.Equal(t, "Hello", text(t, data))
}

func TestIncrementalUpdate(t *testing.T) {
	data := One(hello, Helv)
	old := strings.LastIndex(string(data), "xref\n0 ")
	at := len(data)
	data = fmt.Appendf(data, "4 0 obj\n%s\nendobj\n", Stream("", "BT /F1 12 Tf (Changed) Tj ET"))
	xref := len(data)
	data = fmt.Appendf(data, "xref\n4 1\n%010d 00000 n \ntrailer\n<</Size 6/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", at, old, xref)
	assert.Equal(t, "Changed", text(t, data))
}

// TestBroken: each of these files has lost a part, and is read all the same.
func TestBroken(t *testing.T) {
	whole := string(One(hello, Helv))
	packed := string(Packed(Catalog, OnePage, FirstPage, Flate("", hello), Helv))
	cut := func(s, from string) string { return s[:strings.LastIndex(s, from)] }
	long := strings.Repeat("BT /F1 12 Tf 10 20 Td (Hello) Tj ET ", 1)
	for why, data := range map[string]string{
		"junk before the header":              "junk\n" + whole,
		"lines before the header shift it":    strings.Repeat("\n", 100) + whole,
		"a wrong startxref":                   strings.ReplaceAll(whole, "startxref\n", "startxref\n9"),
		"a startxref beyond the file":         strings.ReplaceAll(whole, "startxref\n", "startxref\n99999999999"),
		"no trailer":                          cut(whole, "trailer"),
		"no cross-reference table":            cut(whole, "xref\n0"),
		"wrong offsets":                       strings.ReplaceAll(whole, "00000 n", "00000 n")[:9] + "\n\n\n\n" + whole[9:],
		"no cross-reference stream":           cut(packed, "7 0 obj"),
		"a wrong startxref to a stream":       strings.ReplaceAll(packed, "startxref\n", "startxref\n1"),
		"wrong length of a stream":            string(Build("", Catalog, OnePage, FirstPage, "<</Length 3>>\nstream\n"+hello+"\nendstream", Helv)),
		"no length of a stream":               string(Build("", Catalog, OnePage, FirstPage, "<<>>\r\nstream\r\n"+hello+"\r\nendstream", Helv)),
		"a length that is the stream's own":   string(Build("", Catalog, OnePage, FirstPage, "<</Length 4 0 R>>\nstream\n"+hello+"\nendstream", Helv)),
		"dictionaries are not closed":         string(Build("", Catalog, OnePage, FirstPage, "<</Length 5 \nstream\n"+long+"\nendstream", Helv)),
		"the page tree is lost":               string(Build("", "<</Type/Catalog>>", "null", FirstPage, Stream("", hello), Helv)),
		"the page tree is a loop":             string(Build("", Catalog, "<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R]/Parent 2 0 R>>", FirstPage, Stream("", hello), Helv)),
		"a kid is missing":                    string(Build("", Catalog, "<</Type/Pages/Kids[77 0 R 3 0 R null]>>", FirstPage, Stream("", hello), Helv)),
		"compressed data are cut":             string(Build("", Catalog, OnePage, FirstPage, Stream("/Filter/FlateDecode", Deflate(hello)[:len(Deflate(hello))-6]), Helv)),
		"the checksum is wrong":               string(Build("", Catalog, OnePage, FirstPage, Stream("/Filter/FlateDecode", Deflate(hello)[:len(Deflate(hello))-4]+"abcd"), Helv)),
		"the trailer names a table in a loop": strings.Replace(whole, "/Root 1 0 R", fmt.Sprintf("/Root 1 0 R/Prev %d", strings.LastIndex(whole, "xref\n0 ")), 1),
	} {
		t.Run(why, func(t *testing.T) {
			assert.Equal(t, "Hello", text(t, []byte(data)))
		})
	}
}

func TestRefused(t *testing.T) {
	whole := string(One(hello, Helv))
	for why, tt := range map[string]struct {
		data string
		err  error
	}{
		"encrypted":             {string(Build("/Encrypt<</Filter/Standard/V 4>>", Catalog, OnePage, FirstPage, Stream("", hello), Helv)), ErrEncrypted},
		"encrypted and broken":  {strings.Replace(string(Build("/Encrypt 5 0 R", Catalog, OnePage, FirstPage, Stream("", hello), Helv)), "startxref\n", "startxref\n7", 1), ErrEncrypted},
		"cut at the beginning":  {whole[:40], ErrBroken},
		"only a header":         {"%PDF-1.4\n", ErrBroken},
		"empty":                 {"", ErrBroken},
		"not a PDF":             {strings.Repeat("hello obj 1 0 obj endobj stream ", 100), ErrBroken},
		"no pages":              {string(Build("", Catalog, "<</Type/Pages/Kids[]/Count 0>>")), ErrBroken},
		"a page tree too deep":  {deepTree(3000), ErrBroken},
		"an object within self": {"%PDF-1.5\n2 0 obj\n<</Type/XRef/Size 3/W[1 2 1]/Root 1 0 R/Length 12>>\nstream\n\x00\x00\x00\x00\x02\x00\x01\x00\x01\x00\x09\x00\nendstream\nendobj\nstartxref\n9\n%%EOF\n", ErrBroken},
	} {
		t.Run(why, func(t *testing.T) {
			_, err := Open(t.Context(), []byte(tt.data))
			assert.ErrorIs(t, err, tt.err)
		})
	}
}

func deepTree(depth int) string {
	objects := []string{Catalog}
	for i := range depth {
		objects = append(objects, fmt.Sprintf("<</Type/Pages/Kids[%d 0 R]>>", i+3))
	}
	return string(Build("", objects...))
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f, err := Open(ctx, One(strings.Repeat(hello+"\n", 5000), Helv))
	require.NoError(t, err)
	cancel()
	_, err = f.Text(1, 1_000_000)
	require.ErrorIs(t, err, context.Canceled)
	_, err = Open(ctx, One(hello, Helv))
	require.ErrorIs(t, err, context.Canceled)
}

func TestCut(t *testing.T) {
	p, err := opened(t, One("BT /F1 9 Tf (Hello, world) Tj ET", Helv)).Text(1, 7)
	require.NoError(t, err)
	assert.True(t, p.Cut)
	assert.Equal(t, "Hello, ", p.Text+" ")
}
