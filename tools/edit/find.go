package edit

import "strings"

// A place is where old_string stands in the text: text[start:end].
type place struct{ start, end int }

// A pattern is old_string made ready for searching under one fold.
type pattern struct {
	fold   fold
	units  string // old_string as units
	anchor int    // where the longest run without a foldable unit begins
	run    int    // its length; 0 when every unit folds
}

func compile(old string, f fold) pattern {
	p := pattern{fold: f, units: f.fold(old)}
	for i := 0; i < len(p.units); {
		j := i
		for j < len(p.units) && !f.folds(p.units[j]) {
			j++
		}
		if j-i > p.run {
			p.anchor, p.run = i, j-i
		}
		i = j + 1
	}
	return p
}

// hitCost is what one hit of the anchor counts in the work budget, in bytes
// compared: about what a call of strings.Index costs.
const hitCost = 16

// each calls yield for every place in ascending order, overlapping ones included,
// until it returns false. Its time is linear in the text, whatever the pattern.
//
// The anchor is found by a byte search that runs at memory speed; only around its
// hits is anything compared. Texts made of near misses would make that quadratic,
// so the comparing has a budget, and an automaton takes over when it is spent.
func (p pattern) each(text string, yield func(place) bool) {
	if p.run == 0 {
		p.automaton(text, -1, yield)
		return
	}
	anchor := p.units[p.anchor : p.anchor+p.run]
	budget := 4*len(text) + 1<<16
	last := -1
	for pos := 0; ; {
		i := strings.Index(text[pos:], anchor)
		if i < 0 {
			return
		}
		at := pos + i
		pos = at + 1
		found, ok, work := p.around(text, at)
		if ok {
			last = found.start
			if !yield(found) {
				return
			}
		}
		if budget -= work + hitCost; budget < 0 {
			p.automaton(text, last, yield)
			return
		}
	}
}

// around compares outwards from an anchor found at text[at:].
func (p pattern) around(text string, at int) (found place, ok bool, work int) {
	start, end := at, at+p.run
	work = p.run
	for i := p.anchor - 1; i >= 0; i-- {
		work++
		if start == 0 {
			return place{}, false, work
		}
		code, n := p.fold.prev(text, start)
		if code != p.units[i] {
			return place{}, false, work
		}
		start -= n
	}
	for i := p.anchor + p.run; i < len(p.units); i++ {
		work++
		if end == len(text) {
			return place{}, false, work
		}
		code, n := p.fold.next(text, end)
		if code != p.units[i] {
			return place{}, false, work
		}
		end += n
	}
	return place{start, end}, true, work
}

// automaton is Knuth, Morris and Pratt's search over units. Its memory is a few
// times the pattern's. Places that start at or before after are passed over.
func (p pattern) automaton(text string, after int, yield func(place) bool) {
	m := len(p.units)
	fail := failures(p.units)
	starts := make([]int, m) // of the last m units read, as a ring
	matched, slot := 0, 0
	for i := 0; i < len(text); {
		code, n := p.fold.next(text, i)
		starts[slot] = i
		if slot++; slot == m {
			slot = 0
		}
		i += n
		for matched > 0 && p.units[matched] != code {
			matched = int(fail[matched-1])
		}
		if p.units[matched] == code {
			matched++
		}
		if matched < m {
			continue
		}
		matched = int(fail[m-1])
		// The slot to be overwritten next holds the oldest of the m starts.
		if start := starts[slot]; start > after && !yield(place{start, i}) {
			return
		}
	}
}

// failures is, for each prefix, the length of its longest proper border.
func failures(s string) []int32 {
	fail := make([]int32, len(s))
	for i, k := 1, 0; i < len(s); i++ {
		for k > 0 && s[i] != s[k] {
			k = int(fail[k-1])
		}
		if s[i] == s[k] {
			k++
		}
		fail[i] = int32(k)
	}
	return fail
}
