package sandbox

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

const (
	maxShown = 50000 // runes a result may have
	keepEnd  = 24970 // runes of either end of a longer one
)

// Preview returns before and then the first 60 and the last 140 lines, with a
// line between that counts what is missing. Where that is more than 50,000
// runes it is the text's two ends with the exact number of runes left out.
func (c *Captured) Preview(before string) string {
	head, tail, total := c.previewParts(before)
	return elide(head, tail, total)
}

// previewParts returns what memory has of the preview's beginning and end
// (tail is empty where head is all), and the number of runes of the whole.
func (c *Captured) previewParts(before string) (head, tail string, total int64) {
	runes := int64(utf8.RuneCountInString(before))
	if c.Lines() <= previewFirst+previewLast {
		return c.wholeParts(before, runes)
	}
	gap := fmt.Sprintf("[... %d lines not shown ...]\n", c.Lines()-previewFirst-previewLast)
	last := c.last.sum(previewLast, c.open)
	total = runes + c.first.chars + int64(len(gap)) + last.chars

	end, endWhole := c.suffix(last.bytes)
	if c.first.bytes > int64(len(c.head)) {
		return before + wholeRunesBefore(c.head), gapIf(endWhole, gap) + end, total
	}
	head = before + string(c.head[:c.first.bytes]) + gap
	if endWhole {
		return head + end, "", total
	}
	return head, end, total
}

func (c *Captured) wholeParts(before string, runes int64) (head, tail string, total int64) {
	total = runes + c.chars
	if c.bytes <= int64(len(c.head)) {
		return before + string(c.head), "", total
	}
	rest := c.bytes - int64(len(c.head))
	if rest <= int64(len(c.tail)) {
		// The two overlap or meet, and a rune across their border is whole again.
		end, _ := c.suffixBytes(rest)
		return before + string(c.head) + string(end), "", total
	}
	end, _ := c.suffix(int64(len(c.tail)))
	return before + wholeRunesBefore(c.head), end, total
}

func gapIf(use bool, gap string) string {
	if use {
		return gap
	}
	return ""
}

// suffix returns the last n bytes, or as many as memory has, in whole runes.
func (c *Captured) suffix(n int64) (text string, whole bool) {
	b, whole := c.suffixBytes(n)
	for len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return string(b), whole
}

func (c *Captured) suffixBytes(n int64) (b []byte, whole bool) {
	if c.tail == nil {
		return c.head[max(0, int64(len(c.head))-n):], true
	}
	whole = n <= int64(len(c.tail))
	size := int(min(n, int64(len(c.tail))))
	b = make([]byte, 0, size)
	if old := size - c.next; old > 0 {
		b = append(b, c.tail[len(c.tail)-old:]...)
		return append(b, c.tail[:c.next]...), whole
	}
	return append(b, c.tail[c.next-size:c.next]...), whole
}

// elide shows a text of total runes that begins with head and ends with tail:
// whole if head is all of it and not too long, else with the middle left out.
func elide(head, tail string, total int64) string {
	if tail == "" && total <= maxShown {
		return head
	}
	if tail == "" {
		tail = head // it is both: the ends do not meet
	}
	h := min(keepEnd, utf8.RuneCountInString(head))
	t := min(2*keepEnd-h, utf8.RuneCountInString(tail))
	if t < keepEnd {
		h = min(2*keepEnd-t, utf8.RuneCountInString(head))
	}
	head, tail = firstRunes(head, h), lastRunes(tail, t)
	return fmt.Sprintf("%s\n\n[... truncated %d chars ...]\n\n%s", head, total-int64(h)-int64(t), tail)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// wholeRunesBefore is b without a rune that was cut at its end.
func wholeRunesBefore(b []byte) string {
	i := len(b) - 1
	for i > 0 && i > len(b)-utf8.UTFMax && !utf8.RuneStart(b[i]) {
		i--
	}
	if i >= 0 && !utf8.FullRune(b[i:]) {
		b = b[:i]
	}
	return string(b)
}

// runeFloor is the greatest index up to n at which b may be cut.
func runeFloor(b []byte, n int) int {
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// runeStarts counts the runes of UTF-8 text by the bytes that begin one, so
// that a rune split between two calls is counted once.
func runeStarts(b []byte) int64 {
	cont := 0
	n := len(b)
	const high = 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		cont += bits.OnesCount64(w & ^(w << 1) & high) // 10xxxxxx
	}
	for _, x := range b {
		if !utf8.RuneStart(x) {
			cont++
		}
	}
	return int64(n - cont)
}

// lastLine returns the last line of b that says something, cut to n runes.
func lastLine(b []byte, n int) string {
	s := strings.TrimSpace(string(b))
	s = s[strings.LastIndexByte(s, '\n')+1:]
	return firstRunes(strings.ToValidUTF8(s, ""), n)
}
