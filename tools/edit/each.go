package edit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// An EachError is what [ReplaceEach] has against one of its requests.
type EachError struct {
	Index int // of the request, from 0
	Err   error
}

func (e *EachError) Error() string { return fmt.Sprintf("edit %d: %v", e.Index+1, e.Err) }
func (e *EachError) Unwrap() error { return e.Err }

// An OverlapError: two requests would change the same place.
type OverlapError struct {
	First, Second int // their indexes, ascending
	Line          int // of text, where they meet
}

func (e *OverlapError) Error() string {
	return fmt.Sprintf("edits %d and %d both change line %d", e.First+1, e.Second+1, e.Line)
}

// ReplaceEach makes several replacements at once. Each is found in text as it is,
// not in what the ones before it would leave, so their order means nothing. All
// of them are made or none. Requests may share lines that none of them changes; two
// that change the same characters, or put something at the same point, are
// refused. The limit is that of the requests' Max, the same for all.
//
// Errors: [*EachError], [*OverlapError], [ErrTooLong], [ErrTooMany].
func ReplaceEach(text string, requests []Request) (Result, error) {
	type owned struct {
		Change
		by int
	}
	var all []owned
	var via []string
	size, most := len(text), 0
	for i, r := range requests {
		used := size - len(text)
		if most = r.Max; most > 0 {
			r.Max = max(most, len(text)) - used // what those before leave of it
		}
		if most > 0 && r.Max <= 0 {
			return Result{}, ErrTooLong
		}
		res, err := Replace(text, r)
		if errors.Is(err, ErrTooLong) && used > 0 {
			return Result{}, err // together, not this one
		}
		if err != nil {
			return Result{}, &EachError{i, err}
		}
		for _, c := range res.Changes {
			all = append(all, owned{narrow(text, c), i})
			size += len(c.New) - (c.End - c.Start)
		}
		if res.Via != "" && !slices.Contains(via, res.Via) {
			via = append(via, res.Via)
		}
		if len(all) > MaxPlaces {
			return Result{}, ErrTooMany
		}
	}
	if most > 0 && size > max(most, len(text)) {
		return Result{}, ErrTooLong
	}
	slices.SortStableFunc(all, func(a, b owned) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	out := Result{Via: strings.Join(via, ", "), Changes: make([]Change, 0, len(all)), old: text}
	for i, c := range all {
		if i > 0 && (c.Start < all[i-1].End || c.Start == c.End && c.Start == all[i-1].Start) {
			a, b := all[i-1].by, c.by
			return Result{}, &OverlapError{min(a, b), max(a, b), LineAt(text, c.Start)}
		}
		out.Changes = append(out.Changes, c.Change)
	}
	return out, nil
}

// narrow leaves out of a change what it keeps at its ends.
func narrow(text string, c Change) Change {
	old := text[c.Start:c.End]
	n := 0
	for n < min(len(old), len(c.New)) && old[n] == c.New[n] {
		n++
	}
	for n > 0 && (n < len(old) && !utf8.RuneStart(old[n]) || n < len(c.New) && !utf8.RuneStart(c.New[n])) {
		n--
	}
	c.Start, c.New, old = c.Start+n, c.New[n:], old[n:]
	n = 0
	for n < min(len(old), len(c.New)) && old[len(old)-1-n] == c.New[len(c.New)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(old[len(old)-n]) {
		n--
	}
	c.End, c.New = c.End-n, c.New[:len(c.New)-n]
	return c
}
