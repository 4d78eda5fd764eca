package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxShown is how many characters of a line a diff shows.
const maxShown = 500

// Render writes hunks as
//
//	@@ -15,1 +15,1 @@
//	- old
//	+ new
//
// with at most maxLines lines of text (0: all), then "... (N more changed lines)".
// Long lines are cut. Where line endings change, each line tells its own:
// [LF], [CRLF], [CR], [no newline at end]. There is no final line break.
func Render(hunks []Hunk, maxLines int) string {
	var out strings.Builder
	left, hidden := maxLines, 0
	if maxLines <= 0 {
		left = int(^uint(0) >> 1)
	}
	for _, h := range hunks {
		if left == 0 {
			hidden += len(h.Old) + len(h.New)
			continue
		}
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", h.OldStart, len(h.Old), h.NewStart, len(h.New))
		marked := h.endingsDiffer()
		take, put := share(len(h.Old), len(h.New), left)
		for i := range len(h.Old) + len(h.New) {
			if i < len(h.Old) && i >= take || i >= len(h.Old)+put {
				hidden++
				continue
			}
			left--
			sign, line := "- ", ""
			if i < len(h.Old) {
				line = h.Old[i]
			} else {
				sign, line = "+ ", h.New[i-len(h.Old)]
			}
			out.WriteString(sign)
			out.WriteString(shown(line, h.skipped(i)))
			if marked {
				out.WriteString(endingName(line))
			}
			out.WriteByte('\n')
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&out, "... (%d more changed lines)", hidden)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// share is how many lines of both sides of a hunk are shown where only so many can be:
// as many of each, where each has enough.
func share(old, new, left int) (take, put int) {
	if old+new <= left {
		return old, new
	}
	take = max(min(old, left/2), left-new)
	return take, left - take
}

// endingsDiffer tells whether the lines of a hunk end in more than one way, or
// the last lines of its sides in different ones.
func (h Hunk) endingsDiffer() bool {
	first := ""
	for _, side := range [...][]string{h.Old, h.New} {
		for _, line := range side {
			_, ending := cutEnding(line)
			if ending == "" {
				continue
			}
			if first != "" && ending != first {
				return true
			}
			first = ending
		}
	}
	if len(h.Old) == 0 || len(h.New) == 0 {
		return false
	}
	_, old := cutEnding(h.Old[len(h.Old)-1])
	_, new := cutEnding(h.New[len(h.New)-1])
	return old != new
}

func endingName(line string) string {
	switch _, ending := cutEnding(line); ending {
	case "\n":
		return " [LF]"
	case "\r\n":
		return " [CRLF]"
	case "\r":
		return " [CR]"
	}
	return " [no newline at end]"
}

// skipped is how many bytes to leave out at the start of the i-th line of a hunk:
// none, unless old and new line would look the same for as far as they are shown.
func (h Hunk) skipped(i int) int {
	if len(h.Old) != len(h.New) {
		return 0
	}
	i %= len(h.Old)
	a, b := h.Old[i], h.New[i]
	const step = maxShown / 5
	n, count, recent, last := 0, 0, 0, 0
	for n < len(a) && n < len(b) {
		r, size := utf8.DecodeRuneInString(a[n:])
		if !strings.HasPrefix(b[n:], a[n:n+size]) || r == '\n' {
			break
		}
		n += size
		// What is shown begins a little before the difference, at most two steps.
		if count++; count%step == 0 {
			recent, last = last, n
		}
	}
	if count < maxShown-step {
		return 0
	}
	return recent
}

// shown is a line as the diff shows it, from byte skipped on.
func shown(line string, skipped int) string {
	if skipped == 0 {
		return clip(plainLine(line), maxShown)
	}
	body, _ := cutEnding(line)
	skipped = min(skipped, len(body))
	before := utf8.RuneCountInString(body[:skipped])
	return fmt.Sprintf("[%d chars] … ", before) + clip(plainLine(line[skipped:]), maxShown)
}

// moreChars stands for what was cut from a line.
func moreChars(n int) string {
	return fmt.Sprintf(" … [+%d chars]", n)
}
