package pdf

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "mcp-tools/tools/media/internal/pdftest"
)

const (
	identity2 = "<</Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</DW 500>>]>>"
	twoBytes  = "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
)

func TestFonts(t *testing.T) {
	composite := func(encoding string) string {
		return "<</Subtype/Type0/Encoding/" + encoding + "/DescendantFonts[<</W[0[1]]>>]>>"
	}
	for why, tt := range map[string]struct{ shown, font, want string }{
		"WinAnsi":                  {`<80 93 6f 94 96 e9>`, Helv, "€“o”–é"},
		"MacRoman":                 {`<8e d2>`, "<</Subtype/Type1/Encoding/MacRomanEncoding>>", "é“"},
		"standard":                 {`<27 60 ae a1 e9>`, "<</Subtype/Type1>>", "’‘fi¡Ø"},
		"TrueType without any":     {`<27 92>`, "<</Subtype/TrueType>>", "'’"},
		"differences":              {`<01 02 03 41 04>`, "<</Subtype/Type1/Encoding<</Differences[1/ffi/uni20AC/aacute 4/f_l.alt]>>>>", "ffi€áAfl"},
		"differences from a base":  {`<80 01>`, "<</Subtype/Type1/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[1/Lslash]>>>>", "€Ł"},
		"names that tell nothing":  {`<01 41>`, "<</Subtype/Type1/Encoding<</Differences[1/g17]>>>>", "\ufffdA"},
		"UTF-16 codes":             {`<0041 d83d de00 6f22>`, composite("UniJIS-UTF16-H"), "A😀漢"},
		"UCS-2 codes":              {`<4e2d 6587>`, composite("UniGB-UCS2-H"), "中文"},
		"GBK codes":                {`<41 d6d0 cec4>`, composite("GBK-EUC-H"), "A中文"},
		"Shift-JIS codes":          {`<41 8abf b1>`, composite("90ms-RKSJ-H"), "A漢ｱ"},
		"Big5 codes":               {`<a4a4>`, composite("ETen-B5-H"), "中"},
		"Korean codes":             {`<c7d1>`, composite("KSCms-UHC-H"), "한"},
		"glyph numbers alone":      {`<0041 0042>`, composite("Identity-H"), "\ufffd\ufffd"},
		"half a code at the end":   {`<0041 00>`, composite("UniGB-UCS2-H"), "A"},
		"widths of a Type 3 font":  {`<41> Tj 12 0 Td <41>`, "<</Subtype/Type3/FontMatrix[.1 0 0 .1 0 0]/FirstChar 65/Widths[10]>>", "A A"},
		"a font that is no font":   {`(a)`, "42", "a"},
		"nonsense in the font":     {`(a)`, "<</Subtype/Type1/Encoding 7/Widths 5/FirstChar/A/ToUnicode[]>>", "a"},
		"nonsense in a composite":  {`(a)`, "<</Subtype/Type0/Encoding[]/DescendantFonts[7]/ToUnicode<<>>>>", "\ufffd"},
		"widths are in their list": {`<41> Tj 6 0 Td <41>`, "<</Subtype/TrueType/FirstChar 65/Widths[600]>>", "AA"},
	} {
		t.Run(why, func(t *testing.T) {
			assert.Equal(t, tt.want, text(t, One("BT /F1 10 Tf "+tt.shown+" Tj ET", tt.font)))
		})
	}
}

func TestToUnicode(t *testing.T) {
	for why, tt := range map[string]struct{ shown, cmap, want string }{
		"single codes":                           {"<00010002>", twoBytes + "2 beginbfchar <0001> <0041> <0002> <00660069> endbfchar", "Afi"},
		"a range":                                {"<00050007>", twoBytes + "1 beginbfrange <0005> <0010> <0041> endbfrange", "AC"},
		"a range with a carry":                   {"<0002>", twoBytes + "1 beginbfrange <0000> <0010> <00ff> endbfrange", "ā"},
		"a range as a list":                      {"<00050006>", twoBytes + "1 beginbfrange <0005> <0006> [<0041> <4e2d>] endbfrange", "A中"},
		"beyond 16 bits":                         {"<0001>", twoBytes + "1 beginbfchar <0001> <d83dde00> endbfchar", "😀"},
		"a map of single bytes for codes of two": {"<0041>", "1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <41> <0061> endbfchar", "a"},
		"a code that is missing":                 {"<00010009>", twoBytes + "1 beginbfchar <0001> <0041> endbfchar", "A\ufffd"},
		"what maps to nothing":                   {"<00010002>", twoBytes + "2 beginbfchar <0001> <0041> <0002> <0000> endbfchar", "A\ufffd"},
		"ranges before it":                       {"<0020>", twoBytes + "2 beginbfrange <0030> <0040> <0061> <0010> <0018> <0041> endbfrange", "\ufffd"},
		"nonsense":                               {"<0001>", "beginbfchar endbfchar 7 endbfrange <> <> <> endbfrange ] >> << } { <0001> endcodespacerange", "\ufffd"},
	} {
		t.Run(why, func(t *testing.T) {
			assert.Equal(t, tt.want, text(t, One("BT /F1 10 Tf "+tt.shown+" Tj ET", identity2, Flate("", tt.cmap))))
		})
	}
}

func TestEmbeddedMap(t *testing.T) {
	m := Flate("", "2 begincodespacerange <00> <7f> <8000> <ffff> endcodespacerange 2 beginbfchar <41> <0061> <8101> <0062> endbfchar")
	font := "<</Subtype/Type0/Encoding 6 0 R/ToUnicode 6 0 R>>"
	assert.Equal(t, "aba", text(t, One("BT /F1 10 Tf <41 8101 41> Tj ET", font, m)), "codes of one and two bytes")
}

func TestUnknown(t *testing.T) {
	p, err := opened(t, One("BT /F1 10 Tf <000100020003> Tj ET", identity2)).Text(1, 100)
	require.NoError(t, err)
	assert.True(t, p.Garbled())
	assert.True(t, p.Empty())
	assert.Equal(t, 3, p.Unknown)
}

func TestBuiltInEncoding(t *testing.T) {
	program := Stream("", "%!PS-AdobeFont\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 1 /Omega put\ndup 65 /ff put\nreadonly def\ncurrentfile eexec\ndup 2 /B put")
	font := "<</Subtype/Type1/FontDescriptor<</FontFile 6 0 R>>>>"
	assert.Equal(t, "Ωff\ufffd", text(t, One("BT /F1 10 Tf <01 41 02> Tj ET", font, program)))
}

func TestGlyphNames(t *testing.T) {
	for glyph, want := range map[string]string{
		"A": "A", "space": " ", "eacute": "é", "Zcaron": "Ž", "scommaaccent": "ş", "alpha": "α", "a.sc": "a",
		"uni00E9": "é", "uni00E90301": "é", "u1F600": "😀", "f_f_i": "ffi", "g12": "", "cid45": "", "uniD800": "",
		"u110000": "", "": "", ".notdef": "", "_": "_", "__": "", "éacute": "", "circlecopyrt": "○",
	} {
		assert.Equal(t, want, glyphText(glyph), glyph)
	}
}
