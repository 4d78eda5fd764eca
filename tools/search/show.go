package search

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Show makes a path printable on one line. Ordinary ones come back as they are.
// One with control characters, invalid UTF-8, or characters that change the
// direction or the line of what surrounds them is put in double quotes with
// escapes, as git does ("a\nb", "bad\xff"), and so is one that begins with a
// double quote: no two names look the same.
func Show(path string) string {
	if !strings.HasPrefix(path, `"`) && strings.IndexFunc(path, deceptive) < 0 && utf8.ValidString(path) {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(path); {
		r, w := utf8.DecodeRuneInString(path[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			fmt.Fprintf(&b, `\x%02x`, path[i])
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case deceptive(r):
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
		i += w
	}
	b.WriteByte('"')
	return b.String()
}

// deceptive reports characters that do not show as themselves.
func deceptive(r rune) bool {
	switch {
	case unicode.IsControl(r):
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidi embedding, override, isolate
	case r == 0x061c, r == 0x200e, r == 0x200f: // bidi marks
	case r == 0x2028, r == 0x2029: // line and paragraph separator
	case r == 0xfeff, r >= 0xe0000 && r <= 0xe007f: // byte order mark, tags
	default:
		return false
	}
	return true
}

func escape(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
