package pdf

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "mcp-tools/tools/media/internal/pdftest"
)

func TestLayout(t *testing.T) {
	for why, tt := range map[string]struct{ content, want string }{
		"no space where letters touch":       {"BT /F1 10 Tf (Hel) Tj (lo) Tj ET", "Hello"},
		"kerning is no space":                {"BT /F1 10 Tf [(A) 80 (V) -60 (A)] TJ ET", "AVA"},
		"a gap is a space":                   {"BT /F1 10 Tf [(one) -300 (two)] TJ ET", "one two"},
		"a space stays one":                  {"BT /F1 10 Tf [(one ) -300 (two) -300 ( three)] TJ ET", "one two three"},
		"wide letter spacing is no space":    {"BT /F1 10 Tf 5 Tc (title) Tj ET", "title"},
		"a wide gap is a tab":                {"BT /F1 10 Tf 0 0 Td (a) Tj 100 0 Td (b) Tj ET", "a\tb"},
		"a step down is a line":              {"BT /F1 10 Tf 12 TL (a) Tj T* (b) Tj (c) ' 0 0 (d) \" ET", "a\nb\nc\nd"},
		"TD sets the leading":                {"BT /F1 10 Tf (a) Tj 0 -12 TD (b) Tj T* (c) Tj ET", "a\nb\nc"},
		"a wide step down is a paragraph":    {"BT /F1 10 Tf (a) Tj 0 -30 Td (b) Tj ET", "a\n\nb"},
		"a step up begins a column":          {"BT /F1 10 Tf (a) Tj 100 200 Td (b) Tj ET", "a\n\nb"},
		"an exponent stays on the line":      {"BT /F1 10 Tf (x) Tj 4 Ts /F1 6 Tf (2) Tj ET", "x2"},
		"the matrix scales":                  {"10 0 0 10 0 0 cm BT /F1 1 Tf 0 70 Td (a) Tj 10 0 Td (b) Tj ET", "a\tb"},
		"the matrix is restored":             {"q 9 0 0 9 0 0 cm Q BT /F1 10 Tf (a) Tj 8 0 Td (b) Tj ET", "a b"},
		"negative sizes upside down":         {"1 0 0 -1 0 800 cm BT /F1 10 Tf 1 0 0 -1 50 100 Tm (a) Tj 1 0 0 -1 50 112 Tm (b) Tj ET", "a\nb"},
		"turned text has lines, too":         {"BT /F1 10 Tf 0 1 -1 0 50 50 Tm (up) Tj 0 -12 Td (side) Tj ET", "up\nside"},
		"another direction begins a line":    {"BT /F1 10 Tf (a) Tj 0 1 -1 0 6 0 Tm (b) Tj ET", "a\n\nb"},
		"bold by printing twice":             {"BT /F1 10 Tf 0 0 Td (bold) Tj 0.3 0 Td (bold) Tj ET", "bold"},
		"the same word again is a word":      {"BT /F1 10 Tf (ha) Tj (ha) Tj ET", "haha"},
		"narrow type has narrow gaps":        {"BT /F1 10 Tf 50 Tz (a) Tj [(b) -500 (c)] TJ ET", "ab c"},
		"inline pictures hold no text":       {"BI /W 1 /H 1 ID \x01EI (x) Tj \xff\nEI BT /F1 9 Tf (a) Tj ET", "a"},
		"escapes":                            {`BT /F1 9 Tf (a\(b\)\\ \101\53\n(c) d\` + "\n" + `e) Tj ET`, `a(b)\ A+ (c) de`},
		"hexadecimal":                        {"BT /F1 9 Tf <48 65 6C6c 6f2> Tj ET", "Hello"},
		"comments":                           {"BT /F1 9 Tf % (no) Tj\n(yes) Tj ET", "yes"},
		"operators that are not known":       {"/P <</MCID 0>> BDC BT /F1 9 Tf (a) Tj ET EMC foo 1 2 bar", "a"},
		"too few operands":                   {"cm Tm Td Tf Tj TJ ' \" Do Tc BT /F1 9 Tf (a) Tj ET", "a"},
		"more Q than q":                      {"Q Q BT /F1 9 Tf (a) Tj ET", "a"},
		"a font that is missing":             {"BT /F9 9 Tf (a) Tj ET", "a"},
		"no font at all":                     {"BT (a) Tj ET", "a"},
		"control characters go":              {"BT /F1 9 Tf (a\tb) Tj ET", "a b"},
		"empty lines and spaces at ends go":  {"BT /F1 9 Tf (  ) Tj 0 -99 Td (a  ) Tj 0 -99 Td ( ) Tj 0 -99 Td (b) Tj ET", "a\n\nb"},
		"invisible text of a scan is a text": {"BT 3 Tr /F1 9 Tf (ocr) Tj ET", "ocr"},
	} {
		t.Run(why, func(t *testing.T) {
			assert.Equal(t, tt.want, text(t, One(tt.content, Helv)))
		})
	}
}

func TestForms(t *testing.T) {
	form := Flate("/Subtype/Form/Matrix[1 0 0 1 0 -12]/Resources<</Font<</F2 5 0 R>>>>", "BT /F2 10 Tf (form) Tj ET")
	data := One("BT /F1 10 Tf (a) Tj ET q /X1 Do Q BT /F1 10 Tf 0 -24 Td (b) Tj ET", Helv, form)
	assert.Equal(t, "a\nform\nb", text(t, data))

	own := One("/X1 Do", Helv, Flate("/Subtype/Form", hello))
	assert.Equal(t, "Hello", text(t, own), "a form without resources has those of the page")
}

func TestPicture(t *testing.T) {
	p, err := opened(t, One("/X1 Do", Helv, Stream("/Subtype/Image/Filter/DCTDecode", "x"))).Text(1, 100)
	assert.NoError(t, err)
	assert.True(t, p.Picture)
	assert.True(t, p.Empty())
}

func TestAnnotations(t *testing.T) {
	page := "<</Type/Page/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>/Annots[6 0 R 7 0 R 8 0 R]>>"
	field := Stream("/Subtype/Form/Resources<</Font<</F1 5 0 R>>>>", "/Tx BMC BT /F1 10 Tf (filled in) Tj ET EMC")
	data := Build("", Catalog, OnePage, page, Stream("", hello), Helv,
		"<</Subtype/Widget/Rect[50 600 90 620]/AP<</N 9 0 R>>>>",
		"<</Subtype/Widget/Rect[50 500 90 520]/AS/On/AP<</N<</On 9 0 R/Off null>>>>>>",
		"<</Subtype/Widget/F 2/Rect[50 400 90 420]/AP<</N 9 0 R>>>>", field)
	assert.Equal(t, "Hello\n\nfilled in\n\nfilled in", text(t, data))
}
