package page

import (
	"regexp"
	"strings"
)

// appendEscaped adds a word with a backslash before what would otherwise be a mark of
// Markdown. It does so only where it would be one: text full of backslashes is hard to
// read, for models too.
// free says that there are blanks on both sides of the word.
func appendEscaped(b []byte, word string, free bool) []byte {
	link := strings.LastIndex(word, "](") // no bracket behind it begins one
	for i := 0; i < len(word); i++ {
		if word[i] == '[' && i < link || isMark(word, i, free && len(word) == 1) {
			b = append(b, '\\')
		}
		b = append(b, word[i])
	}
	return b
}

// isMark tells whether the byte at i would be a mark. One that is alone is none.
func isMark(word string, i int, alone bool) bool {
	switch word[i] {
	case '`':
		return true
	case '*':
		return !alone
	case '_': // inside a word it is none
		return !alone && !(isWordByte(word, i-1) && isWordByte(word, i+1))
	case '<':
		return i+1 < len(word) && (isLetter(word[i+1]) || strings.IndexByte("/!?", word[i+1]) >= 0)
	case '&':
		return entity.MatchString(word[i:])
	case '~':
		return i+1 < len(word) && word[i+1] == '~'
	case '\\':
		return i+1 < len(word) && strings.IndexByte("\\`*_[]<>#+-.!|~&", word[i+1]) >= 0
	}
	return false
}

var entity = regexp.MustCompile(`^&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});`)

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isWordByte(s string, i int) bool {
	return i >= 0 && i < len(s) && (isLetter(s[i]) || '0' <= s[i] && s[i] <= '9' || s[i] >= 0x80 || s[i] == '_')
}

var startMark = regexp.MustCompile(`^(?:#{1,6} |[-+] |>|\d{1,9}[.)] |(?:-{3,}|={3,}|\+{3,})$)`)

// mayBeMark is a quick look whether a line begins like a mark.
func mayBeMark(line string) bool {
	return line != "" && (strings.IndexByte("#-+>=", line[0]) >= 0 || '0' <= line[0] && line[0] <= '9')
}

// escapeStart escapes what at the beginning of a line would make it a heading, an
// item, a quotation or a rule.
func escapeStart(text string) string {
	if strings.IndexByte(text, '\n') < 0 && !mayBeMark(text) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !mayBeMark(line) {
			continue
		}
		mark := startMark.FindString(line)
		if mark == "" {
			continue
		}
		at := 0
		if '0' <= mark[0] && mark[0] <= '9' {
			at = strings.IndexAny(mark, ".)")
		}
		lines[i] = line[:at] + `\` + line[at:]
	}
	return strings.Join(lines, "\n")
}
