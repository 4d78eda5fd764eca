package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible takes out of a text what nobody sees and a model might obey: control
// characters, characters of the Unicode tag block but in the flags that are spelled
// with them, bidirectional controls, and zero-width characters where no script needs
// them. Bytes that are no UTF-8 become U+FFFD.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, '\r') >= 0 || strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029") {
		s = breaks.Replace(s)
	}
	if !strings.ContainsFunc(s, suspicious) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	before, flag := rune(0), 0 // flag: the tags of a flag end here
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if r == blackFlag {
			flag = i + utf8.RuneLen(r) + flagTags(s[i+utf8.RuneLen(r):])
		}
		if suspicious(r) && !needed(r, before, after, i < flag) {
			continue
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// breaks are line breaks of every kind as one.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

const blackFlag = '\U0001F3F4' // begins the flags of England, Scotland and Wales

// flagTags is the length of the tags behind a black flag that make it one of the three
// flags there are.
func flagTags(s string) int {
	for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
		var tags strings.Builder
		for _, c := range region + "\x7f" {
			tags.WriteRune(0xE0000 + c)
		}
		if strings.HasPrefix(s, tags.String()) {
			return tags.Len()
		}
	}
	return 0
}

func isTag(r rune) bool { return 0xE0000 <= r && r <= 0xE00FF || 0xE01F0 <= r && r <= 0xE0FFF }

func suspicious(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n' && r != '\t' && r != '\r'
	case r < 0x7f:
		return false
	case r < 0xa0, r == 0xAD:
		return true
	}
	return isTag(r) || isZeroWidth(r) || isBidi(r) || isSelector(r) || isBlankSign(r)
}

// isSelector: variation selectors, which choose the form of the character before them.
// In a row they can spell anything.
func isSelector(r rune) bool {
	return 0xFE00 <= r && r <= 0xFE0F || 0xE0100 <= r && r <= 0xE01EF || 0x180B <= r && r <= 0x180D || r == 0x180F
}

// isBlankSign: characters without a form of their own.
func isBlankSign(r rune) bool {
	return 0x206A <= r && r <= 0x206F || 0xFFF9 <= r && r <= 0xFFFB || r == 0x034F || r == 0x17B4 || r == 0x17B5 || r == 0x2800
}

func isZeroWidth(r rune) bool {
	return 0x200B <= r && r <= 0x200D || 0x2060 <= r && r <= 0x2065 || r == 0xFEFF || r == 0x180E || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0
}

func isBidi(r rune) bool {
	return r == 0x061C || r == 0x200E || r == 0x200F || 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
}

// needed: emoji and some scripts are spelled with joiners, flags with tags.
func needed(r, before, after rune, flag bool) bool {
	switch {
	case isTag(r):
		return flag
	case isSelector(r): // one, behind a sign or a letter that has forms
		return before > 0xA0 && !isSelector(before) && (unicode.IsSymbol(before) || unicode.IsPunct(before) || unicode.IsLetter(before)) || strings.ContainsRune("0123456789#*", before) && r == 0xFE0F
	case r == 0x200C || r == 0x200D:
		return joins(before) && (joins(after) || r == 0x200C && after > 0x7f)
	}
	return false
}

// joins: letters and marks beyond the Latin ones, and signs such as emoji.
func joins(r rune) bool {
	return r > 0x2ff && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r)) || 0x1F3FB <= r && r <= 0x1F3FF
}
