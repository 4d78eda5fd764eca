package edit

import (
	"strconv"
	"strings"
)

const (
	causePrefixes     = "old_string has the line-number prefixes of a file listing (`  12 | `); they are not part of the file, and it was not found without them either"
	causeSomePrefixes = "some lines of old_string begin with a line-number prefix (`  12 | `) that is not part of the file; send the text alone"
	causeNewPrefixes  = "new_string has line-number prefixes (`  12 | `) on some of its lines; they would get into the file, send the text alone"
)

// withoutPrefixes takes the line-number prefixes of a file listing from r, if
// every line of r.Old has one and they count up by one; else r comes back as it
// is. A r.New with a prefix on some lines only is refused: whatever is done with
// those lines could be wrong.
func withoutPrefixes(r Request) (Request, error) {
	old, with, without, counting := stripPrefixes(r.Old)
	if with == 0 || without > 0 || !counting {
		return r, nil
	}
	bare := r
	bare.Old = old
	new, with, without, _ := stripPrefixes(r.New)
	if with > 0 && without > 0 {
		return r, &NotFoundError{Causes: []string{causeNewPrefixes}}
	}
	if with > 0 {
		bare.New = new
	}
	if bare.Old == bare.New {
		return r, ErrIdentical
	}
	if bare.Old == "" {
		return r, nil
	}
	return bare, nil
}

// stripPrefixes takes the prefixes from the lines of s that have one, and counts
// the lines with and without. counting tells whether the numbers go up by one.
func stripPrefixes(s string) (bare string, with, without int, counting bool) {
	var out strings.Builder
	counting = true
	expected := 0
	for _, line := range splitLines(s, separator(s)) {
		number, text, ok := cutPrefix(line)
		if !ok {
			without++
			out.WriteString(line)
			continue
		}
		if with > 0 && number != expected {
			counting = false
		}
		expected = number + 1
		with++
		out.WriteString(text)
	}
	return out.String(), with, without, counting
}

// cutPrefix parts a line from its "%4d | ". Leading blanks may be missing, and so
// may the last blank of an otherwise empty line: both get trimmed on the way.
func cutPrefix(line string) (number int, text string, ok bool) {
	digits, text, ok := strings.Cut(line, " |")
	if !ok {
		return 0, "", false
	}
	digits = strings.TrimLeft(digits, " ")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, "", false
	}
	number, err := strconv.Atoi(digits)
	if err != nil {
		return 0, "", false
	}
	if rest, ok := strings.CutPrefix(text, " "); ok {
		return number, rest, true
	}
	return number, text, strings.Trim(text, "\r\n") == ""
}
