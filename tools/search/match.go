package search

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// longText is from where on a single search is made interruptible, at the price
// of some speed, in bytes.
const longText = 4 << 20

// A hit is a match and the lines it lies in, as offsets in the text: lines from
// "from" to "to" (before the line break), the match itself from start to end.
type hit struct{ from, to, start, end int }

// find looks for the first match in text and returns its bounds.
func (p *program) find(ctx context.Context, text []byte) (start, end int, ok bool) {
	if p.plain {
		i := bytes.Index(text, []byte(p.literal))
		return i, i + len(p.literal), i >= 0
	}
	var loc []int
	switch {
	case len(text) > longText:
		loc = p.re.FindReaderSubmatchIndex(&patientReader{ctx: ctx, text: text})
	case p.group > 0:
		loc = p.re.FindSubmatchIndex(text)
	default:
		loc = p.re.FindIndex(text)
	}
	if loc == nil {
		return 0, 0, false
	}
	return loc[2*p.group], loc[2*p.group+1], true
}

// nextLine finds the first line from pos on, where a line begins, that matches.
// The text is lines without the last line break.
func (p *program) nextLine(ctx context.Context, text []byte, pos int) (hit, bool) {
	for pos <= len(text) {
		if p.literal == "" || p.plain {
			start, end, ok := p.find(ctx, text[pos:])
			if !ok {
				return hit{}, false
			}
			from, to := lineAround(text, pos+start)
			return hit{from, to, pos + start, pos + end}, true
		}
		i := bytes.Index(text[pos:], []byte(p.literal))
		if i < 0 {
			return hit{}, false
		}
		from, to := lineAround(text, pos+i)
		if start, end, ok := p.find(ctx, text[from:to]); ok {
			return hit{from, to, from + start, from + end}, true
		}
		pos = to + 1
	}
	return hit{}, false
}

// lineAround returns the bounds of the line that holds the byte at i, or that
// ends there.
func lineAround(text []byte, i int) (from, to int) {
	from = bytes.LastIndexByte(text[:i], '\n') + 1
	if end := bytes.IndexByte(text[i:], '\n'); end >= 0 {
		return from, i + end
	}
	return from, len(text)
}

// each yields the matches in text as the lines they lie in. Those of one never
// begin before those of the last, but may be the same.
func (p *program) each(ctx context.Context, text []byte, yield func(hit) bool) {
	if p.multiline {
		p.eachSpan(ctx, text, yield)
		return
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	for pos := 0; pos <= len(text); {
		h, ok := p.nextLine(ctx, text, pos)
		if !ok || !yield(h) {
			return
		}
		pos = h.to + 1
	}
}

// eachSpan is each for matches that may run over several lines.
func (p *program) eachSpan(ctx context.Context, text []byte, yield func(hit) bool) {
	if p.literal != "" && !bytes.Contains(text, []byte(p.literal)) {
		return
	}
	last := -1 // where the last match ended; an empty one there does not count
	for pos := 0; pos < len(text); {
		start, end, ok := p.find(ctx, text[pos:])
		if !ok {
			return
		}
		for start, end = start+pos, end+pos; ok; {
			h, real := span(text, start, end)
			if !real || ctx.Err() != nil || end > last && !yield(h) {
				return
			}
			last, pos = end, h.to+1
			start, end, ok = p.findBehind(text, h)
		}
		if p.anchored {
			return // findBehind has seen all the rest
		}
	}
}

// span finds the lines of a match; !ok for an empty one behind the last line.
func span(text []byte, start, end int) (h hit, ok bool) {
	if start == len(text) && bytes.HasSuffix(text, []byte("\n")) {
		return hit{}, false
	}
	from, _ := lineAround(text, start)
	_, to := lineAround(text, max(start, end-1))
	return hit{from, to, start, end}, true
}

// findBehind finds the next match that begins in the last line of h. The search
// needs to see the character in front, for ^ and \b.
func (p *program) findBehind(text []byte, h hit) (start, end int, ok bool) {
	at := h.end
	if h.start == h.end {
		_, w := utf8.DecodeRune(text[at:])
		at += max(w, 1)
	}
	if at == 0 || at > len(text) || at > h.to && !p.anchored {
		return 0, 0, false
	}
	_, w := utf8.DecodeLastRune(text[:at])
	loc := p.resume.FindSubmatchIndex(text[at-w:])
	if loc == nil {
		return 0, 0, false
	}
	g := 2 * (p.group + 1)
	return at - w + loc[g], at - w + loc[g+1], true
}
