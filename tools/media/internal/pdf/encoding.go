package pdf

import (
	"bytes"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// encoding gives the text of each code of a font with codes of one byte.
type encoding [256]string

var (
	winAnsi  = fromCharmap(charmap.Windows1252)
	macRoman = fromCharmap(charmap.Macintosh)
	standard = makeStandard()
)

func fromCharmap(m *charmap.Charmap) (e encoding) {
	for i := 0x20; i < 256; i++ {
		if r := m.DecodeByte(byte(i)); r >= 0x20 && r != '\ufffd' {
			e[i] = string(r)
		}
	}
	e.blanks()
	return e
}

// blanks: no glyph is at these codes, but writers put tabs and line ends there.
func (e *encoding) blanks() { e['\t'], e['\n'], e['\r'] = " ", " ", " " }

// standardHigh is the upper half of StandardEncoding from 0xa1 on, "." where it
// has no glyph.
const standardHigh = `¡ ¢ £ ⁄ ¥ ƒ § ¤ ' “ « ‹ › fi fl . – † ‡ · . ¶ • ‚ „ ” » … ‰ . ¿
. ` + "`" + ` ´ ˆ ˜ ¯ ˘ ˙ ¨ . ˚ ¸ . ˝ ˛ ˇ — . . . . . . . . . . . . . . . .
Æ . ª . . . . Ł Ø Œ º . . . . . æ . . . ı . . ł ø œ ß . . . .`

func makeStandard() (e encoding) {
	for i := 0x20; i < 0x7f; i++ {
		e[i] = string(rune(i))
	}
	e['\''], e['`'] = "’", "‘"
	e.blanks()
	for i, s := range strings.Fields(standardHigh) {
		if s != "." && 0xa1+i < 256 {
			e[0xa1+i] = s
		}
	}
	return e
}

// simpleEncoding makes the encoding of a simple font, from its base and its
// differences.
func (f *File) simpleEncoding(font dict) encoding {
	e := f.baseEncoding(font)
	enc, ok := f.resolve(font["Encoding"]).(dict)
	if !ok {
		return e
	}
	at := int64(0)
	for _, v := range f.array(enc["Differences"]) {
		f.work.step(1)
		switch v := f.resolve(v).(type) {
		case int64:
			at = v
		case name:
			if at >= 0 && at < 256 {
				e[at] = glyphText(string(v))
			}
			at++
		}
	}
	return e
}

func (f *File) baseEncoding(font dict) encoding {
	base := f.name(font["Encoding"])
	if d, ok := f.resolve(font["Encoding"]).(dict); ok {
		base = f.name(d["BaseEncoding"])
	}
	switch base {
	case "WinAnsiEncoding":
		return winAnsi
	case "MacRomanEncoding":
		return macRoman
	case "StandardEncoding":
		return standard
	}
	if f.name(font["Subtype"]) == "TrueType" {
		return winAnsi
	}
	if e, ok := f.builtIn(font); ok {
		return e
	}
	return standard
}

// builtIn reads the encoding that an embedded Type 1 font brings: lines as
// "dup 65 /A put" in its readable part.
func (f *File) builtIn(font dict) (e encoding, ok bool) {
	file, isStream := f.resolve(f.dict(font["FontDescriptor"])["FontFile"]).(stream)
	if !isStream {
		return e, false
	}
	data, err := f.decode(file)
	if err != nil {
		return e, false
	}
	if end := bytes.Index(data, []byte("eexec")); end >= 0 {
		data = data[:end]
	}
	i := bytes.Index(data, []byte("/Encoding"))
	if i < 0 {
		return e, false
	}
	l := &lexer{src: data, pos: i + len("/Encoding"), work: f.work, noRefs: true}
	for {
		switch l.token() {
		case eof, keyword("readonly"), keyword("def"):
			return e, ok
		case keyword("dup"):
			at, isInt := l.token().(int64)
			glyph, isName := l.token().(name)
			if isInt && isName && at >= 0 && at < 256 {
				e[at], ok = glyphText(string(glyph)), true
			}
		}
	}
}
