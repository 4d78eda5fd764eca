package edit

import (
	"strings"
	"unicode/utf8"
)

// A Request asks for Old to become New. Both are literal: nothing in them is a
// pattern or an escape.
type Request struct {
	Old, New string
	All      bool // replace every place instead of demanding that there is only one; of overlapping ones the first
	Max      int  // how many bytes the result may have, or as many as before; 0: any
}

// A Change replaces bytes Start to End of the original text by New.
type Change struct {
	Start, End int
	New        string
}

// A Result is a text with its changes made. Bytes outside of them are as before.
type Result struct {
	Changes []Change // ascending, not overlapping, offsets in the original text
	Via     string   // the step that found the place, for "(matched via …)"; "" when exact

	old string
}

// NewResult is text with changes made, which are as a Result has them.
func NewResult(text string, changes ...Change) Result { return Result{Changes: changes, old: text} }

// Text is the new text, made anew at each call.
func (r Result) Text() string {
	var out strings.Builder
	out.Grow(r.Size())
	for part := range r.parts {
		out.WriteString(part)
	}
	return out.String()
}

// Size is the length of the new text in bytes.
func (r Result) Size() int {
	n := len(r.old)
	for _, c := range r.Changes {
		n += len(c.New) - (c.End - c.Start)
	}
	return n
}

// Lines counts the lines of the new text as [Lines] does.
func (r Result) Lines() int {
	feeds, returns, last := 0, 0, byte(0)
	for part := range r.parts {
		if part == "" {
			continue
		}
		feeds += countByte(part, '\n')
		returns += countByte(part, '\r')
		last = part[len(part)-1]
	}
	n, sep := feeds, byte('\n')
	if feeds == 0 && returns > 0 {
		n, sep = returns, '\r'
	}
	if r.Size() > 0 && last != sep {
		n++
	}
	return n
}

// parts gives the new text piece by piece.
func (r Result) parts(yield func(string) bool) {
	at := 0
	for _, c := range r.Changes {
		if !yield(r.old[at:c.Start]) || !yield(c.New) {
			return
		}
		at = c.End
	}
	yield(r.old[at:])
}

// The names of the steps after the exact one.
const (
	viaEndings  = "line endings"
	viaQuotes   = "quote normalization"
	viaDashes   = "dash normalization"
	viaBlanks   = "no-break space normalization"
	viaPrefixes = "line-number prefixes"
)

// Replace finds r.Old in text and replaces it. Steps are tried in order, and the
// first that finds anything decides:
//
//  1. the exact bytes;
//  2. any line ending for any other;
//  3. typographic look-alikes too: quotes and primes, dashes, no-break spaces;
//  4. without the line-number prefixes of a file listing, if every line of r.Old
//     has one, once more from 1.
//
// Without r.All there must be one place under the step's own folding; overlapping
// places count. What r.New shares with r.Old keeps the file's own characters, and
// its line breaks become those of the file, unless r.Old and r.New differ in
// nothing else. text may hold any bytes.
//
// Errors: [ErrEmptyOld], [ErrIdentical], [ErrNoChange], [ErrTooLong],
// [ErrTooMany],
// [*AmbiguousError], [*NotFoundError].
func Replace(text string, r Request) (Result, error) {
	if r.Old == "" {
		return Result{}, ErrEmptyOld
	}
	if r.Old == r.New {
		return Result{}, ErrIdentical
	}
	res, found, err := climb(text, r)
	if found || err != nil {
		return res, err
	}
	bare, err := withoutPrefixes(r)
	if err != nil {
		return Result{}, err
	}
	if bare.Old == r.Old {
		return Result{}, diagnose(text, r)
	}
	res, found, err = climb(text, bare)
	if err != nil {
		return Result{}, err
	}
	if !found {
		miss := diagnose(text, bare)
		miss.Causes = append([]string{causePrefixes}, miss.Causes...)
		return Result{}, miss
	}
	res.Via = strings.TrimSuffix(viaPrefixes+", "+res.Via, ", ")
	return res, nil
}

// climb tries the steps that take r as it is.
func climb(text string, r Request) (res Result, found bool, err error) {
	for _, f := range [...]fold{foldNothing, foldBreaks, foldLooks} {
		if f > foldNothing && !utf8.ValidString(r.Old) {
			break // its bytes could match the middle of a character
		}
		p := compile(r.Old, f)
		if !f.anything(p.units) {
			continue
		}
		places, err := p.places(text, r.All)
		if err != nil {
			return Result{}, false, err
		}
		if len(places) == 0 {
			continue
		}
		res, err = apply(text, r, f, places)
		return res, err == nil, err
	}
	return Result{}, false, nil
}

// MaxPlaces is how many places are replaced at most: each is kept in memory.
const MaxPlaces = 1_000_000

// maxLines is how many places an AmbiguousError lists.
const maxLines = 20

// places finds the one place of p, or all of them.
func (p pattern) places(text string, all bool) ([]place, error) {
	var out []place
	ambiguous := AmbiguousError{}
	lines := lineCounter{text: text, sep: separator(text)}
	p.each(text, func(found place) bool {
		if whole := wholeBreak(text, found); len(out) == 0 || out[len(out)-1].end <= whole.start { // else that half is taken already
			found = whole
		}
		ambiguous.Count++
		if len(ambiguous.Lines) < maxLines {
			ambiguous.Lines = append(ambiguous.Lines, lines.at(found.start))
		}
		if len(out) > MaxPlaces {
			return false
		}
		if all && (len(out) == 0 || out[len(out)-1].end <= found.start) || len(out) == 0 {
			out = append(out, found)
		}
		return true
	})
	switch {
	case !all && ambiguous.Count > 1:
		return nil, &ambiguous
	case len(out) > MaxPlaces:
		return nil, ErrTooMany
	}
	return out, nil
}

// wholeBreak widens a place that begins between "\r" and "\n". To whoever wrote
// old_string that was one line break; half of it must not stay behind.
func wholeBreak(text string, p place) place {
	if p.start > 0 && text[p.start] == '\n' && text[p.start-1] == '\r' {
		p.start--
	}
	return p
}

// A lineCounter tells the lines of ascending offsets in one pass.
type lineCounter struct {
	text   string
	sep    byte
	offset int
	passed int // line ends before offset
}

func (c *lineCounter) at(offset int) int {
	c.passed += countByte(c.text[c.offset:offset], c.sep)
	c.offset = offset
	return c.passed + 1
}

// apply writes r.New at the places.
func apply(text string, r Request, f fold, places []place) (Result, error) {
	w := newRewriter(text, r, f)
	res := Result{Changes: make([]Change, 0, len(places)), old: text}
	size := len(text)
	same := true
	for _, p := range places {
		text, err := w.at(p)
		if err != nil {
			return Result{}, err
		}
		res.Changes = append(res.Changes, Change{p.start, p.end, text})
		if size += len(text) - (p.end - p.start); r.Max > 0 && size > max(r.Max, len(w.text)) {
			return Result{}, ErrTooLong
		}
		same = same && w.text[p.start:p.end] == text
	}
	if same {
		return Result{}, ErrNoChange
	}
	res.Via = via(text, r.Old, f, places)
	return res, nil
}

// via names a step by what it had to overlook.
func via(text, old string, f fold, places []place) string {
	switch f {
	case foldNothing:
		return ""
	case foldBreaks:
		return viaEndings
	}
	name := viaBlanks
	for _, p := range places {
		at := p.start
		for i := 0; i < len(old); {
			code, n := f.next(old, i)
			_, m := f.next(text, at)
			differs := old[i:i+n] != text[at:at+m]
			i, at = i+n, at+m
			if !differs {
				continue
			}
			if code == '\'' || code == '"' {
				return viaQuotes
			}
			if code == '-' {
				name = viaDashes
			}
		}
	}
	return name
}
