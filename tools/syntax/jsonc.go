package syntax

import "bytes"

// checkJSONC checks JSON with comments and trailing commas. Both are blanked
// out, byte for byte, and the rest must be JSON: so offsets stay true, time is
// linear and nesting is bounded as for JSON.
func checkJSONC(text string) (*Error, bool) {
	return jsonError(text, blankExtras([]byte(text))), true
}

// blankExtras overwrites comments and trailing commas of data with spaces.
func blankExtras(data []byte) []byte {
	comma := -1     // offset of a comma after which no value came yet
	last := byte(0) // the last byte that is no space or comment
	for i := 0; i < len(data); {
		end := i + 1
		switch c := data[i]; c {
		case ' ', '\t', '\r', '\n':
			i = end
			continue
		case '/':
			if n := commentLen(data[i:]); n > 0 {
				blank(data[i : i+n])
				i += n
				continue
			}
		case '"':
			end = i + stringLen(data[i:])
		case ',':
			comma = -1
			if endsValue(last) {
				comma = i
			}
		case '}', ']':
			if last == ',' && comma >= 0 {
				data[comma] = ' '
			}
		}
		last, i = data[i], end
	}
	return data
}

// endsValue reports whether a value can end in c: a comma after anything else
// is no trailing comma.
func endsValue(c byte) bool {
	return c != 0 && !bytes.ContainsRune([]byte("[{,:"), rune(c))
}

// commentLen returns the length of the comment that data begins with, 0 if it
// does not begin with a whole one. The line break is no part of it.
func commentLen(data []byte) int {
	switch {
	case bytes.HasPrefix(data, []byte("//")):
		if n := bytes.IndexByte(data, '\n'); n >= 0 {
			return n
		}
		return len(data)
	case bytes.HasPrefix(data, []byte("/*")):
		if n := bytes.Index(data[2:], []byte("*/")); n >= 0 {
			return 2 + n + 2
		}
	}
	return 0
}

// stringLen returns the length of the string that data begins with. One
// without end goes on to the end of the line: it is an error anyway.
func stringLen(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\n':
			return i
		}
	}
	return len(data)
}

// blank overwrites data with spaces and keeps its line breaks.
func blank(data []byte) {
	for i, c := range data {
		if c != '\n' && c != '\r' {
			data[i] = ' '
		}
	}
}
