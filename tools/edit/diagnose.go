package edit

import (
	"fmt"
	"strings"
)

const (
	maxBlock     = 20  // lines of a closest block that are shown
	maxBlockLine = 240 // characters of one of them
	maxCompared  = 64 << 10
)

// diagnose explains why r.Old was not found in text.
func diagnose(text string, r Request) *NotFoundError {
	e := &NotFoundError{PresentAt: presentAt(text, r)}
	if _, with, without, _ := stripPrefixes(r.Old); with > 0 && without > 0 {
		e.Causes = append(e.Causes, causeSomePrefixes)
	}
	best, ok := closest(text, r.Old)
	if plain := unescape(r.Old); plain != r.Old {
		if other, found := closest(text, plain); found && (!ok || other.score > best.score) {
			best, ok = other, true
		}
	}
	if !ok {
		return e
	}
	region := regionAt(text, best, r.Old)
	causes, first := region.causes(r.Old)
	e.Causes = append(e.Causes, causes...)
	// A long block is shown from a little before its first difference.
	const before = 5
	skip := 0
	if len(region.block) > maxBlock {
		skip = max(0, min(first-before, len(region.block)-maxBlock))
	}
	e.show(region.block[skip:], best.line+1+skip)
	e.More += region.more
	return e
}

// show puts lines into e, cut to a size that can be read.
func (e *NotFoundError) show(lines []string, first int) {
	e.First = first
	for i, line := range lines {
		if i == maxBlock {
			e.More = len(lines) - i
			return
		}
		e.Block = append(e.Block, clip(plainLine(line), maxBlockLine))
	}
}

// presentAt is the line where r.New already stands, when that says that the edit
// was made before: r.New fills whole lines or is long, and is no part of r.Old.
func presentAt(text string, r Request) int {
	const long = 16
	units := foldBreaks.fold(r.New)
	body := strings.TrimSpace(units)
	if len(body) < minTelling || strings.Contains(foldBreaks.fold(r.Old), units) {
		return 0
	}
	line := 0
	compile(r.New, foldBreaks).each(text, func(p place) bool {
		if len(body) < long && !ownLines(text, p) {
			return true
		}
		for isBreak(text[p.start:]) {
			_, n := foldBreaks.next(text, p.start)
			p.start += n
		}
		line = LineAt(text, p.start)
		return false
	})
	return line
}

// ownLines tells whether p has nothing but blanks beside it on its lines.
func ownLines(text string, p place) bool {
	const enough = 200 // blanks; more are not looked through
	before := strings.TrimRight(text[max(0, p.start-enough):p.start], blanks)
	after := strings.TrimLeft(text[p.end:min(len(text), p.end+enough)], blanks)
	begins := before == "" && p.start < enough || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, "\r")
	ends := after == "" && p.end+enough > len(text) || isBreak(after)
	last := text[p.end-1]
	return (begins || isBreak(text[p.start:])) && (ends || last == '\n' || last == '\r')
}

// A region is the part of a text that old_string is compared with.
type region struct {
	block []string // as many lines as old_string has, at most maxOldLines
	more  int      // lines beyond these
	whole string   // the block as it stands in the text
	near  string   // and with a line around it on either side
}

func regionAt(text string, c candidate, old string) region {
	sep := separator(text)
	start := 0
	for n := 0; n < c.line && start < len(text); n++ {
		start = lineEnd(text, start, sep)
	}
	var r region
	end := start
	for n := countLines(withEndings(old, string(rune(sep))), sep); n > 0 && end < len(text); n-- {
		next := lineEnd(text, end, sep)
		if len(r.block) < maxOldLines {
			r.block = append(r.block, pieceOf(text[end:next], c.offset))
		} else {
			r.more++
		}
		end = next
	}
	r.whole = text[start:end]
	nearStart, nearEnd := start, end
	if start > 0 {
		nearStart = lineStart(text, start-1, sep)
	}
	if end < len(text) {
		nearEnd = lineEnd(text, end, sep)
	}
	if nearEnd-nearStart > maxCompared {
		at := start + c.offset
		nearStart, nearEnd = max(0, at-maxPiece), min(len(text), at+min(len(old), maxCompared/2)+2*maxPiece)
		r.whole = text[at:nearEnd]
	}
	r.near = text[nearStart:nearEnd]
	return r
}

// pieceOf is a line from offset on: in a very long one, that is where it is like
// the one that was looked for.
func pieceOf(line string, offset int) string {
	if offset == 0 || offset >= len(line) {
		return line
	}
	return fmt.Sprintf("[%d bytes] … ", offset) + strings.ToValidUTF8(line[offset:], "")
}

// causes tells what differs between old and the region, and in which line of the
// block that begins.
func (r region) causes(old string) (found []string, first int) {
	lines := splitLines(foldBreaks.fold(old), '\n')
	first = r.firstDifference(lines)
	if len(old) <= maxCompared {
		if found := differences(r.near, r.whole, old); found != nil {
			return found, first
		}
	}
	if first >= min(len(lines), len(r.block)) {
		return nil, first
	}
	want, has := plainLine(lines[first]), plainLine(r.block[first])
	inline := inlineDiff(strings.TrimSpace(want), strings.TrimSpace(has))
	switch {
	case len(lines) == 1 && inline == "":
		return nil, first // the line is shown anyway
	case len(lines) == 1:
		return append(found, "{-only in old_string-}{+only in the file+}: "+inline), first
	case inline != "":
		found = append(found, fmt.Sprintf("line %d of old_string is the first that differs, {-only there-}{+only in the file+}: %s", first+1, inline))
	default:
		found = append(found, fmt.Sprintf("line %d of old_string is the first that differs: it reads `%s`, the file has `%s`",
			first+1, clip(want, 160), clip(has, 160)))
	}
	if len(want)+len(has) <= maxCompared {
		found = append(found, differences(has, has, want)...)
	}
	return found, first
}

// firstDifference is the index of the first line that is not in the block as it
// stands. The first line may be the end of one, and the last its beginning.
func (r region) firstDifference(lines []string) int {
	for i, line := range lines {
		if i == len(r.block) {
			return i
		}
		want, has := plainLine(line), plainLine(r.block[i])
		same := want == has ||
			i == 0 && strings.HasSuffix(has, want) ||
			i == len(lines)-1 && strings.HasPrefix(has, want) ||
			len(want)+len(has) <= maxCompared && foldLooks.fold(want) == foldLooks.fold(has)
		if !same {
			return i
		}
	}
	return len(lines)
}
