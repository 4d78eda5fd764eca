package pdf

import (
	"bytes"
	"compress/lzw"
	"encoding/ascii85"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	. "mcp-tools/tools/media/internal/pdftest"
)

func TestFilters(t *testing.T) {
	var late bytes.Buffer
	w := lzw.NewWriter(&late, lzw.MSB, 8)
	_, _ = w.Write([]byte(hello))
	_ = w.Close()
	encoded := make([]byte, ascii85.MaxEncodedLen(len(hello)))
	ascii := string(encoded[:ascii85.Encode(encoded, []byte(hello))])
	for why, stream := range map[string]string{
		"none":               Stream("", hello),
		"Flate":              Flate("", hello),
		"a line end first":   Stream("/Filter/FlateDecode", "\r\n"+Deflate(hello)),
		"no zlib header":     Stream("/Filter/FlateDecode", Deflate(hello)[2:]),
		"hexadecimal":        Stream("/Filter/ASCIIHexDecode", "4254202F46312031 32 20 54 66 2028 48 65 6c 6C 6f 29 20 54 6A 20 45 54>garbage"),
		"hexadecimal Flate":  Stream("/Filter[/ASCIIHexDecode/FlateDecode]", hexOf(Deflate(hello))+">"),
		"abbreviated":        Stream("/Filter[/AHx/Fl]", hexOf(Deflate(hello))+">"),
		"ASCII 85":           Stream("/Filter/ASCII85Decode", "<~"+ascii+"~>"),
		"run lengths":        Stream("/Filter/RunLengthDecode", "\x12BT /F1 12 Tf 0 0 Td\x00 \x06(Hello)\x05 Tj ET\xfe \x80 junk"),
		"LZW, late change":   Stream("/Filter/LZWDecode/DecodeParms<</EarlyChange 0>>", late.String()),
		"LZW, short":         Stream("/Filter/LZWDecode", late.String()),
		"PNG prediction":     Stream("/Filter/FlateDecode/DecodeParms[<</Predictor 15/Columns 4>>]", Deflate(predictedRows(hello))),
		"TIFF prediction":    Stream("/Filter/FlateDecode/DecodeParms<</Predictor 2/Columns 100>>", Deflate(differences(hello))),
		"an empty filter":    Stream("/Filter[]", hello),
		"an unknown filter":  Stream("/Filter/JPXDecode", hello),
		"a filter of crypt":  Stream("/Filter[/Crypt]", hello),
		"parameters missing": Stream("/Filter/FlateDecode/DecodeParms[null]", Deflate(hello)),
	} {
		t.Run(why, func(t *testing.T) {
			want := "Hello"
			if why == "an unknown filter" {
				want = ""
			}
			assert.Equal(t, want, text(t, Build("", Catalog, OnePage, FirstPage, stream, Helv)))
		})
	}
}

func hexOf(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteString(string("0123456789abcdef"[c>>4]) + string("0123456789ABCDEF"[c&15]) + " ")
	}
	return b.String()
}

// predictedRows predicts each row of four bytes in another way.
func predictedRows(s string) string {
	for len(s)%4 != 0 {
		s += " "
	}
	var out []byte
	above := make([]byte, 4)
	for i := 0; i < len(s); i += 4 {
		kind := byte(i / 4 % 5)
		out = append(out, kind)
		row := []byte(s[i : i+4])
		for k, c := range row {
			var left, corner byte
			if k > 0 {
				left, corner = row[k-1], above[k-1]
			}
			out = append(out, c-predicted(kind, left, above[k], corner))
		}
		above = row
	}
	return string(out)
}

func differences(s string) string {
	out := []byte(s)
	for i := len(out) - 1; i > 0; i-- {
		if i%100 != 0 {
			out[i] -= out[i-1]
		}
	}
	return string(out)
}
