package pdf

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	. "mcp-tools/tools/media/internal/pdftest"
)

// TestHostile: small files that ask for endless work or memory. Whether they
// give a text or an error does not matter, only what they cost.
func TestHostile(t *testing.T) {
	xrefStream := func(dict string) []byte {
		const rows = "\x00\x00\x00\x00\x02\x00\x01\x00\x01\x00\x09\x00"
		return fmt.Appendf([]byte("%PDF-1.5\n"), "2 0 obj\n%s\nendobj\nstartxref\n9\n%%%%EOF\n", Stream("/Type/XRef/Root 1 0 R"+dict, rows))
	}
	lengths := []string{Catalog, OnePage, FirstPage}
	for i := range 5000 {
		lengths = append(lengths, fmt.Sprintf("<</Length %d 0 R>>\nstream\nx\nendstream", i+5))
	}
	cmap := func(body string) []byte {
		return One(hello, "<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R>>", Flate("", body))
	}
	form := "/Subtype/Form/Resources<</XObject<</X1 6 0 R/X2 6 0 R>>>>"
	for why, data := range map[string][]byte{
		"a huge size":               xrefStream("/Size 30000000000/W[1 2 1]"),
		"huge widths":               xrefStream("/Size 3/W[1 2000000000 1]"),
		"negative widths":           xrefStream("/Size 3/W[1 -2 1]"),
		"no widths, endless rows":   xrefStream("/Size 3/W[0 0 0]/Index[0 9000000000000]"),
		"a huge index":              xrefStream("/Size 3/W[1 2 1]/Index[9000000000000000 9000000000000]"),
		"a huge first number":       []byte("%PDF-1.4\nxref\n2000000000 9000000000000\n0000000009 00000 n \ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF"),
		"huge columns":              One("", Helv, Stream("/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 9000000000000000/Colors 99999>>", Deflate("x"))),
		"a map that promises much":  cmap("99999999999 beginbfchar endbfchar 99999999999 begincodespacerange endcodespacerange"),
		"a map with huge ranges":    cmap(strings.Repeat("1 beginbfrange <00000000> <ffffffff> <0041> endbfrange\n", 90_000)),
		"a map with many codes":     cmap("1 beginbfchar " + strings.Repeat("<0001> <0041> ", 300_000) + "endbfchar"),
		"widths again and again":    One(hello, "<</Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</W["+strings.Repeat("0 65535 1 ", 3_000)+"]>>]>>"),
		"arrays in arrays":          Build("", Catalog, OnePage, "<</Type/Page/X "+strings.Repeat("[", 3_000_000)+">>"),
		"dictionaries in them":      Build("", Catalog, OnePage, "<</Type/Page/X "+strings.Repeat("<</A", 1_000_000)+">>"),
		"a long array":              Build("", Catalog, OnePage, "<</Type/Page/X["+strings.Repeat("0 ", 10_000_000)+"]>>"),
		"arrays in the content":     One(strings.Repeat("[", 3_000_000), Helv),
		"a stream that unpacks":     One(strings.Repeat("q ", 14_000_000), Helv),
		"packed twice":              Build("", Catalog, OnePage, FirstPage, Stream("/Filter[/FlateDecode/FlateDecode]", Deflate(Deflate(strings.Repeat("q ", 14_000_000)))), Helv),
		"forms in forms":            One("/X1 Do", Helv, Stream(form, strings.Repeat("/X1 Do /X2 Do ", 500))),
		"lengths of lengths":        Build("", lengths...),
		"objects without end":       []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj ", 300_000)),
		"trailers without end":      []byte("%PDF-1.4\n" + strings.Repeat("trailer <<", 20_000)),
		"unclosed strings":          []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj (", 100_000)),
		"streams without end":       []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj <</Type/ObjStm>> stream ", 50_000)),
		"inline pictures":           One(strings.Repeat("BI ID EI", 1_000_000), Helv),
		"object streams extend":     One("", Helv, Stream("/Type/ObjStm/N 99999999999/First 99999999999999/Extends 6 0 R", "1 0 2 0")),
		"numbers that are too long": One(strings.Repeat("9", 1_000_000)+" 0 Td", Helv),
		"infinite positions":        One("BT /F1 1e308 Tf 1e308 0 0 1e308 1e308 1e308 Tm (abc) Tj 1e308 1e308 Td (d) Tj ET", Helv),
		"one name, many steps":      One("/"+strings.Repeat("#41", 1_000_000)+" gs", Helv),
		"filters in a row":          Build("", Catalog, OnePage, FirstPage, Stream("/Filter["+strings.Repeat("/AHx ", 100_000)+"]", "41"), Helv),
		"differences in a row":      One(hello, "<</Type/Font/Encoding<</Differences["+strings.Repeat("/A ", 300_000)+"]>>>>"),
	} {
		t.Run(why, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			// Fewer steps and much more time than in use, for slow machines: it is
			// the count of steps that has to end the work.
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			f, err := open(&work{ctx: ctx, most: maxSteps / 10}, data)
			if err == nil {
				_, err = f.Text(1, 50_000)
			}
			runtime.ReadMemStats(&after)
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
			noFault(t, err)
			assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(400), "MB")
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add(One(hello, Helv))
	f.Add(Packed(Catalog, OnePage, FirstPage, Flate("", hello), Helv))
	f.Add(Build("", Catalog, OnePage, FirstPage, Stream("", "BT /F1 9 Tf [(a) -900 <62>] TJ T* (c) ' 1 2 (d) \" ET BI ID x EI /X1 Do"), Helv, Stream("/Subtype/Form", hello)))
	f.Add(One(hello, "<</Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</DW 500/W[1[2 3]4 5 6]>>]>>",
		Stream("", "1 begincodespacerange <0000><ffff> endcodespacerange 1 beginbfrange <0001><0009><0041> endbfrange 1 beginbfchar <0010><0041> endbfchar")))
	f.Add(Build("", Catalog, OnePage, FirstPage, Stream("/Filter[/ASCII85Decode/LZWDecode]", "J..)6T`?p&<!J9%_[umg\"B7/Z7KNXbN'S+,*Q/&\"OLT'F"), Helv))
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		file, err := Open(t.Context(), data)
		if err == nil {
			for n := range min(file.Pages(), 3) {
				_, err := file.Text(n+1, 10_000)
				noFault(t, err)
			}
		}
		noFault(t, err)
		if d := time.Since(start); d > 20*time.Second {
			t.Fatalf("took %v", d)
		}
	})
}

// noFault: errors are welcome, but a panic that was caught is a fault here.
func noFault(t *testing.T, err error) {
	if err != nil && strings.Contains(err.Error(), "runtime error") {
		t.Fatal(err)
	}
}
