package charset

import (
	"slices"
	"strings"
)

// An Encoding is a legacy encoding. The zero value is none: it holds no text, not
// even an empty one. Encodings can be compared with ==.
type Encoding struct{ c *codec }

// Name is the usual name: "GBK", "Shift_JIS", "windows-1252", "ISO-8859-2",
// "KOI8-R", "IBM866". It is empty for the zero value.
func (e Encoding) Name() string {
	if e.c == nil {
		return ""
	}
	return e.c.name
}

// String is Name, for messages.
func (e Encoding) String() string { return e.Name() }

// Named gives the encoding with that name or one of its usual aliases; case,
// spaces and punctuation do not matter ("cp1251", "SJIS", "gb2312", "Latin-1",
// "ms932"). As everywhere, "gb2312" is GBK, "shift_jis" is CP932 and "euc-kr" is
// CP949, which hold all of them and more. Otherwise names stand for what they say: "latin1" is ISO-8859-1, in which 0x80
// to 0x9F are control characters, not windows-1252 as on web pages. The names of
// UTF-8, UTF-16, ASCII and of encodings with state (ISO-2022-JP) are not known.
func Named(name string) (Encoding, bool) {
	c, ok := byName[fold(name)]
	return Encoding{c}, ok
}

// Names are the encodings that [Named] knows, without their aliases, sorted.
func Names() []string {
	names := make([]string, 0, len(codecs))
	for _, c := range codecs {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return names
}

var byName = namesOf(codecs)

func namesOf(codecs []*codec) map[string]*codec {
	names := make(map[string]*codec)
	for _, c := range codecs {
		names[fold(c.name)] = c
		for alias := range strings.FieldsSeq(c.aliases) {
			names[alias] = c
		}
	}
	return names
}

// fold keeps the letters and digits of a name, in lower case.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		}
		return -1
	}, name)
}
