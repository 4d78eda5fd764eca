package pdf

import (
	"strings"

	textenc "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// maxFonts is how many codes the fonts that are kept may have together.
const maxFonts = 500_000

// font turns the strings of a content stream into glyphs.
type font struct {
	toUnicode *cmap            // nil: none
	simple    *encoding        // nil: a composite font
	codes     *cmap            // of a composite font: how long its codes are; nil: two bytes
	legacy    textenc.Encoding // of a composite font: what its codes mean; nil: not known
	utf16     bool             // of a composite font: its codes are Unicode
	widths    map[uint32]float64
	width     float64 // of codes that are not in widths, in font sizes
	size      int     // codes it knows, for the limit
}

// glyph is one code of a string: its text, "" if that is not known, its width
// in font sizes, and whether it is the space that word spacing goes for.
type glyph struct {
	text  string
	width float64
	space bool
}

func (f *File) font(v any) *font {
	r, isRef := v.(ref)
	if known, ok := f.fonts[r]; ok && isRef {
		return known
	}
	made := f.makeFont(f.dict(v))
	if isRef {
		total := made.size
		for _, other := range f.fonts {
			total += other.size
		}
		if total > maxFonts || len(f.fonts) > 1000 {
			f.fonts = map[ref]*font{}
		}
		f.fonts[r] = made
	}
	return made
}

func (f *File) makeFont(d dict) *font {
	made := &font{widths: map[uint32]float64{}}
	if s, ok := f.resolve(d["ToUnicode"]).(stream); ok {
		if data, err := f.decode(s); err == nil {
			made.toUnicode = f.readCMap(data)
			made.size += made.toUnicode.size()
		}
	}
	if f.name(d["Subtype"]) == "Type0" {
		f.makeComposite(made, d)
	} else {
		e := f.simpleEncoding(d)
		made.simple = &e
		f.simpleWidths(made, d)
	}
	made.size += len(made.widths) + 256
	return made
}

func (f *File) simpleWidths(made *font, d dict) {
	widths := f.array(d["Widths"])
	if len(widths) == 0 {
		for i, w := range standardWidths(string(f.name(d["BaseFont"]))) {
			made.widths[uint32(i)] = w
		}
		return
	}
	scale := 0.001
	if m := f.array(d["FontMatrix"]); f.name(d["Subtype"]) == "Type3" && len(m) == 6 {
		scale = f.num(m[0])
	}
	first := f.int(d["FirstChar"])
	for i, v := range widths[:min(len(widths), 256)] {
		if at := first + int64(i); at >= 0 && at < 256 {
			made.widths[uint32(at)] = f.num(v) * scale
		}
	}
	made.width = f.num(f.dict(d["FontDescriptor"])["MissingWidth"]) * scale
}

// legacyMaps are the predefined maps whose codes are those of an old encoding,
// by a part of their names.
var legacyMaps = []struct {
	part     string
	encoding textenc.Encoding
}{
	{"GB", simplifiedchinese.GB18030}, {"RKSJ", japanese.ShiftJIS}, {"B5", traditionalchinese.Big5},
	{"KSC", korean.EUCKR}, {"EUC-H", japanese.EUCJP}, {"EUC-V", japanese.EUCJP},
}

func (f *File) makeComposite(made *font, d dict) {
	made.width = 1
	if kids := f.array(d["DescendantFonts"]); len(kids) > 0 {
		f.cidWidths(made, f.dict(kids[0]))
	}
	switch enc := f.resolve(d["Encoding"]).(type) {
	case stream:
		if data, err := f.decode(enc); err == nil {
			made.codes = f.readCMap(data)
			made.size += made.codes.size()
		}
	case name:
		f.predefined(made, string(enc))
	}
}

func (f *File) predefined(made *font, cmap string) {
	if strings.Contains(cmap, "UCS2") || strings.Contains(cmap, "UTF16") {
		made.utf16 = true
		made.widths = nil // they go by glyph numbers, which such codes are not
		return
	}
	for _, m := range legacyMaps {
		if strings.Contains(cmap, m.part) {
			made.legacy, made.widths = m.encoding, nil
			return
		}
	}
}

// cidWidths reads "12 [500 600] 20 30 700": widths of 12 and 13, then of 20 to
// 30.
func (f *File) cidWidths(made *font, d dict) {
	if w, ok := number(f.resolve(d["DW"])); ok {
		made.width = w / 1000
	}
	list := f.array(d["W"])
	for i := 0; i+1 < len(list); {
		f.work.step(1)
		first := f.int(list[i])
		if widths, ok := f.resolve(list[i+1]).(array); ok {
			for k, w := range widths {
				f.setWidths(made, first+int64(k), first+int64(k), f.num(w))
			}
			i += 2
			continue
		}
		if i+2 < len(list) {
			f.setWidths(made, first, f.int(list[i+1]), f.num(list[i+2]))
		}
		i += 3
	}
}

func (f *File) setWidths(made *font, first, last int64, width float64) {
	for c := max(first, 0); c <= min(last, 1<<16-1); c++ {
		f.work.step(2) // an entry of a table costs more than a token
		made.widths[uint32(c)] = width / 1000
	}
}

// next takes the first glyph from s, which is not empty, and gives the rest.
func (m *font) next(s string) (glyph, string) {
	if m.simple != nil {
		c := code{1, uint32(s[0])}
		g := glyph{text: m.simple[s[0]], width: m.widthOf(c), space: s[0] == ' '}
		return m.mapped(g, c), s[1:]
	}
	if m.legacy != nil {
		n := 1
		if s[0] >= 0x81 && len(s) > 1 && !(m.legacy == japanese.ShiftJIS && s[0] >= 0xa0 && s[0] < 0xe0) {
			n = 2
		}
		text, err := m.legacy.NewDecoder().String(s[:n])
		if err != nil {
			text = ""
		}
		return m.mapped(glyph{text: text, width: float64(n) / 2}, codeOf(s[:n])), s[n:]
	}
	c := m.nextCode(s)
	g := glyph{width: m.widthOf(c), space: c.n == 1 && s[0] == ' '}
	if m.utf16 {
		g.text = utf16Text(s[:c.n])
	}
	return m.mapped(g, c), s[c.n:]
}

func (m *font) nextCode(s string) code {
	switch {
	case m.codes != nil:
		return m.codes.next(s)
	case m.utf16 && len(s) >= 4 && s[0]&0xfc == 0xd8:
		return codeOf(s[:4])
	}
	return codeOf(s[:min(2, len(s))])
}

func (m *font) widthOf(c code) float64 {
	if w, ok := m.widths[c.value]; ok {
		return w
	}
	return m.width
}

// mapped prefers what ToUnicode says of a code, if it says something.
func (m *font) mapped(g glyph, c code) glyph {
	if m.toUnicode == nil {
		return g
	}
	if text, ok := m.toUnicode.unicode(c); ok && readable(text) {
		g.text = text
		return g
	}
	if m.simple == nil && c.n == 2 { // a map made for codes of one byte
		if text, ok := m.toUnicode.unicode(code{1, c.value}); ok && readable(text) {
			g.text = text
		}
	}
	return g
}
