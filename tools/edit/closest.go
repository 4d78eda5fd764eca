package edit

import (
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The search for the lines closest to an old_string that was not found is bounded:
// it reads the text at most twice, with a constant amount of work per byte.
const (
	maxScan      = 32 << 20 // bytes of text looked at
	maxOldLines  = 500      // lines of old_string looked for
	maxSightings = 20       // places remembered for each of them
	maxPiece     = 1000     // longer lines are looked at in pieces of this size
	minTelling   = 4        // a line with fewer letters says little about where it stands
)

// A candidate is where old_string may have been meant to match.
type candidate struct {
	line   int // 0-based line of the text for the first line of old_string
	offset int // in bytes, of a piece within a long line
	score  float64
}

// seed separates this process's hashes from what anyone can prepare.
var seed = maphash.MakeSeed()

// A tracker looks for the lines of old_string in a text, by their skeletons.
type tracker struct {
	wanted    map[uint64]*sighting
	probe     int     // index of the longest line of old_string
	gram      []int32 // by hashed trigram of the probe's skeleton: 0, or the last line that has it
	grams     int     // how many different trigrams the probe has
	best      candidate
	bestExtra int // length of the best line beyond the probe's
	buf       []byte
}

type sighting struct {
	old    []int // indexes of the lines of old_string
	length int
	lines  []int // first lines of the text with this skeleton
	count  int
}

// closest finds where old may have been meant to match; ok is false when nothing
// in the text resembles it.
func closest(text, old string) (best candidate, ok bool) {
	sep := separator(text)
	oldLines := splitLines(withEndings(old, string(rune(sep))), sep)
	if len(oldLines) > maxOldLines {
		oldLines = oldLines[:maxOldLines]
	}
	t := newTracker(oldLines)
	text = text[:min(len(text), maxScan)]
	for line, at := 0, 0; at < len(text); line++ {
		end := lineEnd(text, at, sep)
		t.see(text[at:end], line)
		at = end
	}
	if voted, ok := t.vote(); ok {
		return voted, true
	}
	return t.best, t.best.score >= 0.4
}

func newTracker(oldLines []string) *tracker {
	t := &tracker{wanted: map[uint64]*sighting{}, gram: make([]int32, 4096)}
	longest := 0
	for i, line := range oldLines {
		if n := len(t.skeleton(line[:min(len(line), maxPiece)])); n > longest {
			t.probe, longest = i, n
		}
	}
	for i, line := range oldLines {
		skeleton := t.skeleton(line[:min(len(line), maxPiece)])
		if len(skeleton) < min(minTelling, longest) || len(skeleton) == 0 || len(line) > maxPiece {
			continue
		}
		h := maphash.Bytes(seed, skeleton)
		if t.wanted[h] == nil {
			t.wanted[h] = &sighting{length: len(skeleton)}
		}
		if s := t.wanted[h]; len(s.old) < maxSightings {
			s.old = append(s.old, i)
		}
	}
	if longest > 0 {
		t.learn(oldLines[t.probe])
	}
	return t
}

// learn takes the trigrams of the probe.
func (t *tracker) learn(line string) {
	for g := range trigrams(t.skeleton(line[:min(len(line), maxPiece)])) {
		if t.gram[g] == 0 {
			t.gram[g] = -1
			t.grams++
		}
	}
}

// see takes one more line of the text.
func (t *tracker) see(line string, number int) {
	if len(line) <= maxPiece {
		skeleton := t.skeleton(line)
		if s := t.wanted[maphash.Bytes(seed, skeleton)]; s != nil {
			s.count++
			if len(s.lines) < maxSightings {
				s.lines = append(s.lines, number)
			}
		}
		t.compare(skeleton, number, 0, int32(number)+1)
		return
	}
	for at := 0; at < len(line); at += maxPiece {
		// Pieces of one line are told apart by the high bit of their marks.
		id := (int32(number)+1)<<8 ^ int32(at/maxPiece) | 1<<30
		t.compare(t.skeleton(line[at:min(len(line), at+maxPiece)]), number, at, id)
	}
}

// compare keeps the line that has most of the probe's trigrams; of equal ones the
// shortest, which has least besides.
func (t *tracker) compare(skeleton []byte, number, offset int, id int32) {
	if t.grams == 0 {
		return
	}
	common := 0
	for g := range trigrams(skeleton) {
		if last := t.gram[g]; last != 0 && last != id {
			t.gram[g] = id
			common++
		}
	}
	score := float64(common) / float64(t.grams)
	extra := max(0, len(skeleton)-2-t.grams)
	if score > t.best.score || score == t.best.score && common > 0 && extra < t.bestExtra {
		t.best = candidate{max(0, number-t.probe), offset, score}
		t.bestExtra = extra
	}
}

// vote finds the place on which most lines of old_string agree. Long lines count
// more than short ones, and rare ones more than frequent ones.
func (t *tracker) vote() (best candidate, ok bool) {
	votes := map[int]float64{}
	for _, s := range t.wanted {
		for _, line := range s.lines {
			for _, i := range s.old {
				votes[line-i] += float64(s.length) / float64(s.count)
			}
		}
	}
	for start, score := range votes {
		if score > best.score || score == best.score && start < best.line {
			best = candidate{line: start, score: score}
		}
	}
	best.line = max(0, best.line)
	return best, len(votes) > 0
}

// skeleton is what is left of a line when all is taken away in which lines that
// mean the same may differ: blanks, invisible characters, case, accents, and the
// kind of quotation marks and dashes. The result is valid until the next call.
func (t *tracker) skeleton(line string) []byte {
	t.buf = t.buf[:0]
	for i := 0; i < len(line); {
		c := line[i]
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c > ' ' {
				t.buf = append(t.buf, c)
			}
			i++
			continue
		}
		code, n := foldLooks.next(line, i)
		if n > 1 {
			if code != ' ' {
				t.buf = append(t.buf, code)
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		t.buf = appendBase(t.buf, line[i:i+n], r)
		i += n
	}
	return t.buf
}

// appendBase appends the letter r, spelled s, without its accents.
func appendBase(buf []byte, s string, r rune) []byte {
	if unicode.Is(unicode.Mn, r) || unicode.IsSpace(r) || isInvisible(r) {
		return buf
	}
	if r == utf8.RuneError {
		return append(buf, s...)
	}
	if d := norm.NFD.PropertiesString(s).Decomposition(); len(d) > 0 {
		r, _ = utf8.DecodeRune(d)
	}
	return utf8.AppendRune(buf, unicode.ToLower(r))
}

// trigrams yields the hashes of all three bytes in a row.
func trigrams(s []byte) func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		for i := 0; i+2 < len(s); i++ {
			h := (uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16) * 2654435761
			if !yield(h >> 20) {
				return
			}
		}
	}
}

// isInvisible tells whether r takes no room on a screen and is easily lost on the way.
func isInvisible(r rune) bool {
	switch {
	case r == '\u00ad', r == '\ufeff', r >= '\u200b' && r <= '\u200f', r >= '\u2060' && r <= '\u2064':
		return true
	}
	return false
}

// clip cuts s to at most n characters, with a word about the rest.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count := utf8.RuneCountInString(s)
	if count <= n {
		return s
	}
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at] + moreChars(count-n)
}

// plainLine is a line as it is shown: without its ending, and with no "\r" that
// would move what follows on a screen.
func plainLine(line string) string {
	body, _ := cutEnding(line)
	return strings.ReplaceAll(body, "\r", "␍")
}
