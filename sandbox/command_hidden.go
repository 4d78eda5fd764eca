package sandbox

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// hidden finds characters that make a line look like another one to whoever
// is asked about it.
func hidden(line string) string {
	for i, r := range line {
		switch {
		case r == '\t' || r == '\n':
		case r == '\r' && strings.HasPrefix(line[i:], "\r\n"):
		case r < 0x20 || r == 0x7f:
			return fmt.Sprintf("it contains the control character %U", r)
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return fmt.Sprintf("it contains the text direction control %U, which hides what is run", r)
		}
	}
	for _, r := range strings.TrimLeft(line, " \t\r\n") {
		if invisible(r) {
			return fmt.Sprintf("it begins with the invisible character %U", r)
		}
		break
	}
	return ""
}

// invisible reports whether nothing, or only space, is seen of a character.
func invisible(r rune) bool {
	switch r {
	case 0x2800, 0x3164, 0xffa0, 0x115f, 0x1160, 0xad, 0x34f, 0x180e:
		return true
	}
	return r > 0x7f && (unicode.Is(unicode.Cf, r) || unicode.IsSpace(r))
}

// disguised finds characters in a command's name that make it look like another.
func disguised(name string) string {
	for _, r := range name {
		if invisible(r) {
			return fmt.Sprintf("the command name contains the invisible character %U", r)
		}
	}
	base := path.Base(name)
	if ascii(base) {
		return ""
	}
	folded := strings.Map(func(r rune) rune {
		if a, ok := lookAlike[r]; ok {
			return a
		}
		return r
	}, norm.NFKC.String(base))
	if !ascii(folded) {
		return "" // a word of another script
	}
	i := strings.IndexFunc(base, func(r rune) bool { return r > 0x7f })
	r, _ := utf8.DecodeRuneInString(base[i:])
	return fmt.Sprintf("the command name %q contains %U, which looks like another letter", base, r)
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7f }) < 0
}

// lookAlike are letters of other scripts that are drawn like those of ASCII,
// beyond the forms that Unicode itself takes for the same.
var lookAlike = map[rune]rune{
	// Cyrillic
	0x430: 'a', 0x435: 'e', 0x43e: 'o', 0x440: 'p', 0x441: 'c', 0x443: 'y', 0x445: 'x', 0x456: 'i',
	0x458: 'j', 0x455: 's', 0x4bb: 'h', 0x501: 'd', 0x51b: 'q', 0x51d: 'w', 0x4cf: 'l', 0x475: 'v',
	0x410: 'A', 0x412: 'B', 0x415: 'E', 0x41a: 'K', 0x41c: 'M', 0x41d: 'H', 0x41e: 'O', 0x420: 'P',
	0x421: 'C', 0x422: 'T', 0x425: 'X', 0x406: 'I', 0x408: 'J', 0x405: 'S',
	// Greek
	0x3bf: 'o', 0x3b1: 'a', 0x3bd: 'v', 0x3c1: 'p', 0x3c5: 'u', 0x3b9: 'i', 0x3ba: 'k', 0x3c3: 'o',
	0x391: 'A', 0x392: 'B', 0x395: 'E', 0x396: 'Z', 0x397: 'H', 0x399: 'I', 0x39a: 'K', 0x39c: 'M',
	0x39d: 'N', 0x39f: 'O', 0x3a1: 'P', 0x3a4: 'T', 0x3a5: 'Y', 0x3a7: 'X',
	// Armenian, phonetic and small capital letters
	0x585: 'o', 0x57d: 'u', 0x578: 'n', 0x581: 'g', 0x570: 'h', 0x131: 'i', 0x251: 'a', 0x261: 'g',
	0x269: 'i', 0x1d0f: 'o', 0x1d1c: 'u', 0x1d20: 'v', 0x1d21: 'w', 0x1d22: 'z', 0xa731: 's', 0x299: 'b',
	0x1d04: 'c', 0x1d05: 'd', 0x1d07: 'e', 0x280: 'r', 0x1d1b: 't', 0x274: 'n', 0x1d0d: 'm', 0x29f: 'l',
	0x1d18: 'p',
}
