package search

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// cutLine makes a line showable: valid UTF-8, at most most characters, of which
// those from start to end (bytes) are the ones to see. What is left out in front
// and behind is told in characters: "[+120 chars] … text … [+3500 chars]".
func cutLine(line []byte, start, end, most int) string {
	if len(line) <= most || len(line) <= 4*most && utf8.RuneCount(line) <= most {
		return string(bytes.ToValidUTF8(line, replacement))
	}
	lead := (most - utf8.RuneCount(line[start:min(end, start+4*most)])) / 2
	lead = max(lead, most/8)
	from := back(line, start, lead)
	to, left := forward(line, from, most)
	if left > 0 { // the match is near the end: show more in front
		from = back(line, from, left)
	}
	text := string(bytes.ToValidUTF8(line[from:to], replacement))
	if n := utf8.RuneCount(line[:from]); n > 0 {
		text = fmt.Sprintf("[+%d chars] … %s", n, text)
	}
	if n := utf8.RuneCount(line[to:]); n > 0 {
		text = fmt.Sprintf("%s … [+%d chars]", text, n)
	}
	return text
}

var replacement = []byte("\ufffd")

// back goes n characters back from i, if there are so many.
func back(line []byte, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		_, w := utf8.DecodeLastRune(line[:i])
		i -= w
	}
	return i
}

// forward goes n characters on from i, and tells how many there were not.
func forward(line []byte, i, n int) (at, left int) {
	for ; n > 0 && i < len(line); n-- {
		_, w := utf8.DecodeRune(line[i:])
		i += w
	}
	return i, n
}
