package edit

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A difference is one way in which old_string may differ from the text it was
// copied from: alike takes it away from both, and says tells it in a sentence.
type difference struct {
	alike func(string) string
	says  func(block, old string) string
}

// Their order matters: escapes may hide blanks and line breaks, and blank lines
// can be told only when blanks at the line's end are gone.
var allDifferences = []difference{
	{unescape, sayEscapes},
	{dropInvisible, func(block, old string) string {
		return "invisible characters differ (zero-width space, byte order mark or soft hyphen): " + whoHas(block, old, func(s string) bool { return dropInvisible(s) != s })
	}},
	{norm.NFC.String, sayComposition},
	{strings.ToLower, func(_, _ string) string { return "upper and lower case differ" }},
	{dropIndents, sayIndents},
	{dropTrailing, func(block, old string) string {
		return "blanks at the ends of lines differ: " + whoHas(block, old, func(s string) bool { return dropTrailing(s) != s })
	}},
	{dropInner, func(_, _ string) string {
		return "blanks inside a line differ (where, how many, or a tab against spaces)"
	}},
	{dropBlankLines, func(block, old string) string {
		if strings.HasSuffix(old, "\n") && !strings.HasSuffix(block, "\n") {
			return "the file has no line break at its end, old_string ends with one; or blank lines differ"
		}
		return "blank lines differ"
	}},
}

// differences tells which of allDifferences keep old from standing in near: those
// without which the others do not suffice. It is nil when all together do not.
func differences(near, block, old string) []string {
	near, block, old = foldLooks.fold(near), foldLooks.fold(block), foldLooks.fold(old)
	if !standsWithout(near, old, -1) {
		return nil
	}
	var found []string
	for i, d := range allDifferences {
		if !standsWithout(near, old, i) {
			found = append(found, d.says(block, old))
		}
	}
	return found
}

// standsWithout tells whether old stands in near when all differences but the
// skipped one are taken away.
func standsWithout(near, old string, skipped int) bool {
	for i, d := range allDifferences {
		if i != skipped {
			near, old = d.alike(near), d.alike(old)
		}
	}
	return old != "" && strings.Contains(near, old)
}

var escapes = strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`, `\\`, `\`)

// unescape does once what a decoder of JSON or of a string literal would.
func unescape(s string) string { return escapes.Replace(s) }

func sayEscapes(block, old string) string {
	had, has := strings.Contains(old, `\n`), strings.Contains(block, `\n`)
	switch {
	case had && !has:
		return `old_string has \n as two characters, a backslash and an n; the file has a line break there`
	case has && !had:
		return `the file has \n as two characters, a backslash and an n; old_string has a line break there`
	case strings.Count(old, `\`) > strings.Count(block, `\`):
		return `old_string has backslashes (such as \" or \t) where the file has the plain character`
	}
	return `the file has backslashes (such as \" or \t) where old_string has the plain character`
}

func dropInvisible(s string) string {
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, s)
}

func sayComposition(block, old string) string {
	says := "the Unicode forms differ: "
	switch {
	case norm.NFC.IsNormalString(old) && !norm.NFC.IsNormalString(block):
		return says + "accented letters are decomposed (NFD) in the file, composed (NFC) in old_string"
	case norm.NFC.IsNormalString(block) && !norm.NFC.IsNormalString(old):
		return says + "accented letters are composed (NFC) in the file, decomposed (NFD) in old_string"
	}
	return says + "some accented letters are composed (NFC) and some decomposed (NFD)"
}

// eachLine rewrites the lines of s, whose breaks are "\n".
func eachLine(s string, rewrite func(string) string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = rewrite(line)
	}
	return strings.Join(lines, "\n")
}

const blanks = " \t"

func dropIndents(s string) string {
	return eachLine(s, func(line string) string { return strings.TrimLeft(line, blanks) })
}

func dropTrailing(s string) string {
	return eachLine(s, func(line string) string { return strings.TrimRight(line, blanks) })
}

// dropInner takes away all blanks but indents and those at line ends.
func dropInner(s string) string {
	return eachLine(s, func(line string) string {
		body := strings.TrimLeft(line, blanks)
		indent := line[:len(line)-len(body)]
		trimmed := strings.TrimRight(body, blanks)
		return indent + innerBlanks.Replace(trimmed) + body[len(trimmed):]
	})
}

var innerBlanks = strings.NewReplacer(" ", "", "\t", "")

func dropBlankLines(s string) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		if line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func sayIndents(block, old string) string {
	fileTabs, fileSpaces := indentsOf(block)
	oldTabs, oldSpaces := indentsOf(old)
	switch {
	case fileTabs && !oldTabs && oldSpaces:
		return "indentation differs: the file indents with tabs, old_string with spaces"
	case fileTabs && !oldTabs:
		return "indentation differs: the file indents with tabs, old_string not at all"
	case oldTabs && !fileTabs && fileSpaces:
		return "indentation differs: the file indents with spaces, old_string with tabs"
	case oldTabs && !fileTabs:
		return "indentation differs: old_string indents with tabs, the file not at all"
	case fileSpaces && !oldSpaces:
		return "indentation differs: the file indents with spaces, old_string not at all"
	}
	return "indentation differs in its depth"
}

func indentsOf(s string) (tabs, spaces bool) {
	for _, line := range strings.Split(s, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, blanks))]
		tabs = tabs || strings.Contains(indent, "\t")
		spaces = spaces || strings.Contains(indent, " ")
	}
	return tabs, spaces
}

func whoHas(block, old string, has func(string) bool) string {
	switch inFile, inOld := has(block), has(old); {
	case inFile && !inOld:
		return "the file has some, old_string has none"
	case inOld && !inFile:
		return "old_string has some, the file has none"
	}
	return "not the same in the file and in old_string"
}
