package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/tools/media/internal/pdftest"
)

func show(s string) string { return "BT /F1 12 Tf 50 700 Td (" + s + ") Tj ET" }

// book has n pages, each of as many characters as are asked for.
func book(n, chars int) []byte {
	var pages []string
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "BT /F1 10 Tf 12 TL 50 700 Td (page %d) Tj", i+1)
		for range chars / 80 {
			b.WriteString(" T* (" + strings.Repeat("x", 79) + ") Tj")
		}
		pages = append(pages, b.String()+" ET")
	}
	return pdftest.Pages(pages...)
}

func readPDF(t *testing.T, b []byte, o PDFOptions) (PDF, error) {
	t.Helper()
	return ReadPDF(t.Context(), bytes.NewReader(b), int64(len(b)), o)
}

func mustReadPDF(t *testing.T, b []byte, o PDFOptions) PDF {
	t.Helper()
	p, err := readPDF(t, b, o)
	require.NoError(t, err)
	return p
}

func numbers(p PDF) (n []int) {
	for _, page := range p.Shown {
		n = append(n, page.Number)
	}
	return n
}

func TestIsPDF(t *testing.T) {
	for head, want := range map[string]bool{
		"%PDF-1.7": true, "\xef\xbb\xbf%PDF-1.4": true, "\r\n %PDF-2.0": true, "": false, "%PDF": false,
		"see %PDF-1.4": false, "%!PS-Adobe": false,
	} {
		assert.Equal(t, want, IsPDF([]byte(head)), "%q", head)
	}
}

func TestParsePages(t *testing.T) {
	for s, want := range map[string][2]int{
		"3": {3, 3}, "1-5": {1, 5}, " 2 - 4 ": {2, 4}, "2-": {2, 21}, "1-20": {1, 20}, "7-7": {7, 7}, "1–2": {1, 2}, "0012": {12, 12},
	} {
		from, to, err := ParsePages(s)
		require.NoError(t, err, s)
		assert.Equal(t, want, [2]int{from, to}, s)
	}
	for s, says := range map[string]string{
		"":                       `"3", "1-5" or "2-"`,
		"all":                    `"3", "1-5" or "2-"`,
		"-3":                     `"3", "1-5" or "2-"`,
		"1,3":                    `"3", "1-5" or "2-"`,
		"1-2-3":                  `"3", "1-5" or "2-"`,
		"+1":                     `"3", "1-5" or "2-"`,
		"0":                      "pages count from 1",
		"0-3":                    "pages count from 1",
		"5-2":                    `did you mean "2-5"?`,
		"1-21":                   `21 pages, and at most 20 are read at once; begin with "1-20"`,
		"99999999":               "no PDF has a page 99999999",
		"9999999999999999999999": "no PDF has a page",
	} {
		_, _, err := ParsePages(s)
		require.Error(t, err, s)
		assert.Contains(t, err.Error(), says, s)
	}
}

func TestReadPDF(t *testing.T) {
	p := mustReadPDF(t, pdftest.Pages(show("one"), show("two")), PDFOptions{})
	assert.Equal(t, PDF{Pages: 2, Shown: []PDFPage{{1, "one", ""}, {2, "two", ""}}}, p)
	assert.Equal(t, "--- page 1 of 2 ---\none\n--- page 2 of 2 ---\ntwo\n", p.String())
}

func TestPDFRange(t *testing.T) {
	b := book(45, 100)
	for why, tt := range map[string]struct {
		o           PDFOptions
		first, last int
		next        int
	}{
		"the beginning":    {PDFOptions{}, 1, 20, 21},
		"one page":         {PDFOptions{From: 7, To: 7}, 7, 7, 8},
		"some":             {PDFOptions{From: 10, To: 14}, 10, 14, 15},
		"open":             {PDFOptions{From: 30}, 30, 45, 0},
		"too many":         {PDFOptions{From: 2, To: 40}, 2, 21, 22},
		"beyond the end":   {PDFOptions{From: 44, To: 50}, 44, 45, 0},
		"backwards is one": {PDFOptions{From: 44, To: 3}, 44, 45, 0},
	} {
		t.Run(why, func(t *testing.T) {
			p := mustReadPDF(t, b, tt.o)
			n := numbers(p)
			assert.Equal(t, [4]int{tt.first, tt.last, tt.last - tt.first + 1, tt.next}, [4]int{n[0], n[len(n)-1], len(n), p.Next})
			assert.Equal(t, 45, p.Pages)
			assert.Equal(t, tt.next != 0, strings.Contains(p.String(), fmt.Sprintf("[The PDF has 45 pages; go on with pages \"%d-\".]", tt.next)))
		})
	}
	_, err := readPDF(t, b, PDFOptions{From: 46})
	assert.EqualError(t, err, "this PDF has 45 pages, and no page 46")
}

func TestPDFChars(t *testing.T) {
	p := mustReadPDF(t, book(10, 20_000), PDFOptions{})
	assert.Equal(t, []int{1, 2}, numbers(p), "the third would not fit whole")
	assert.Equal(t, 3, p.Next)
	assert.LessOrEqual(t, len(p.String()), MaxPDFChars+200)

	p = mustReadPDF(t, book(3, 80_000), PDFOptions{})
	assert.Equal(t, []int{1}, numbers(p))
	assert.Equal(t, 2, p.Next)
	assert.Contains(t, p.Shown[0].Note, "its end is left out")

	p = mustReadPDF(t, book(3, 80), PDFOptions{MaxChars: 10})
	assert.Equal(t, []int{1}, numbers(p))
	assert.LessOrEqual(t, len(p.Shown[0].Text), 10)
}

func TestPDFNotes(t *testing.T) {
	page := "<</Type/Page/Contents 4 0 R/Resources<</XObject<</X1 5 0 R>>/Font<</F1 6 0 R/F2<</Encoding<</Differences[97/g1/g2/g3]>>>>>>>>>>"
	build := func(content string) []byte {
		return pdftest.Build("", pdftest.Catalog, pdftest.OnePage, page, pdftest.Stream("", content),
			pdftest.Stream("/Subtype/Image/Filter/DCTDecode", "x"), "<</Subtype/Type0/Encoding/Identity-H>>")
	}
	for content, says := range map[string]string{
		"/X1 Do":                       "it probably is an image, as of a scan",
		"":                             "it is empty, or its content is drawn as shapes",
		"0 0 9 9 re f":                 "drawn as shapes",
		"BT /F1 9 Tf <00010002> Tj ET": "its fonts do not say which characters they draw",
		"BT /F2 9 Tf (abcde) Tj ET":    "do not say for most characters",
	} {
		p := mustReadPDF(t, build(content), PDFOptions{})
		assert.Contains(t, p.Shown[0].Note, says, content)
	}
}

func TestPDFRefused(t *testing.T) {
	whole := book(3, 300)
	encrypted := pdftest.Build("/Encrypt<</Filter/Standard>>", pdftest.Catalog, pdftest.OnePage, pdftest.FirstPage)
	_, err := readPDF(t, encrypted, PDFOptions{})
	require.ErrorIs(t, err, ErrEncrypted)
	assert.Contains(t, err.Error(), "this PDF cannot be read: it is encrypted. A copy without protection can be")

	for why, b := range map[string][]byte{"empty": nil, "cut": whole[:30], "text": []byte("hello")} {
		_, err := readPDF(t, b, PDFOptions{})
		require.Error(t, err, why)
		assert.Contains(t, err.Error(), "cannot be read: it is broken (no page is found in it)", why)
	}

	_, err = ReadPDF(t.Context(), bytes.NewReader(nil), MaxPDFBytes+1, PDFOptions{})
	assert.EqualError(t, err, "this PDF has 104.9 MB, and at most 104.9 MB are read")
	_, err = ReadPDF(t.Context(), bytes.NewReader(whole), int64(len(whole)+9), PDFOptions{})
	assert.ErrorContains(t, err, "this PDF cannot be read: EOF", "a file that became shorter")
}

func TestPDFCutOff(t *testing.T) {
	whole := book(6, 300)
	p := mustReadPDF(t, whole[:len(whole)*2/3], PDFOptions{})
	assert.Contains(t, p.String(), "page 1")
	assert.Contains(t, p.String(), "page 2")
}

// endless has a second page that takes more work than a call may.
func endless() []byte {
	form := "/Subtype/Form/Resources<</XObject<</X1 6 0 R/X2 6 0 R>>>>"
	return pdftest.Build("", pdftest.Catalog, "<</Kids[3 0 R 4 0 R 3 0 R]/Resources<</Font<</F1 8 0 R>>/XObject<</X1 6 0 R>>>>>>",
		"<</Type/Page/Contents 5 0 R>>", "<</Type/Page/Contents 7 0 R>>", pdftest.Stream("", show("easy")),
		pdftest.Stream(form, strings.Repeat("/X1 Do /X2 Do ", 500)), pdftest.Stream("", "/X1 Do"), pdftest.Helv)
}

func TestPDFTooMuchWork(t *testing.T) {
	p := mustReadPDF(t, endless(), PDFOptions{})
	assert.Equal(t, []PDFPage{{1, "easy", ""}}, p.Shown)
	assert.Equal(t, 2, p.Next)
	assert.Contains(t, p.Notes[0], "The reading was ended before page 2, for it takes")
	_, err := readPDF(t, endless(), PDFOptions{From: 2})
	assert.ErrorContains(t, err, "page 2 of this PDF cannot be read: it takes")
}

// TestPDFContext: the work ends with its context, and leaves nothing behind.
func TestPDFContext(t *testing.T) {
	b := endless()
	before := runtime.NumGoroutine()
	gone := errors.New("the caller is gone")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, gone)
	defer cancel()
	_, err := ReadPDF(ctx, bytes.NewReader(b), int64(len(b)), PDFOptions{From: 2})
	require.ErrorIs(t, err, gone)
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "something runs on")
	}
}

func FuzzParsePages(f *testing.F) {
	for _, s := range []string{"3", "1-5", "2-", "0", "-", "1–2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		from, to, err := ParsePages(s)
		if err == nil && (from < 1 || to < from || to-from >= MaxPDFPages) {
			t.Fatalf("%q: %d-%d", s, from, to)
		}
	})
}

func FuzzPDF(f *testing.F) {
	f.Add(book(3, 100), 1, 20, 1000)
	f.Add(pdftest.Packed(pdftest.Catalog, pdftest.OnePage, pdftest.FirstPage, pdftest.Flate("", show("a")), pdftest.Helv), 1, 1, 10)
	f.Fuzz(func(t *testing.T, b []byte, from, to, chars int) {
		p, err := ReadPDF(t.Context(), bytes.NewReader(b), int64(len(b)), PDFOptions{From: from, To: to, MaxChars: chars})
		if err == nil && (len(p.Shown) == 0 || len(p.Shown) > MaxPDFPages || p.Next > p.Pages) {
			t.Fatalf("%+v", p)
		}
	})
}
