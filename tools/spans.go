package tools

import (
	"fmt"
	"slices"
	"strings"

	"mcp-tools/tools/edit"
)

// A span is a run of lines, first and last included, from 1.
type span struct{ first, last int }

// spans are runs of lines; in normal form ascending, not touching.
type spans []span

// normal sorts the runs and joins those that touch.
func (s spans) normal() spans {
	slices.SortFunc(s, func(a, b span) int { return a.first - b.first })
	var out spans
	for _, x := range s {
		if x.last < x.first {
			continue
		}
		if n := len(out); n > 0 && x.first <= out[n-1].last+1 {
			out[n-1].last = max(out[n-1].last, x.last)
			continue
		}
		out = append(out, x)
	}
	return out
}

// covers tells whether lines 1 to n are all in s, which is in normal form.
func (s spans) covers(n int) bool {
	return n == 0 || len(s) == 1 && s[0].first <= 1 && s[0].last >= n
}

// maxSpansNamed bounds how many runs a message lists.
const maxSpansNamed = 5

func (s spans) String() string {
	var parts []string
	for i, x := range s {
		if i == maxSpansNamed {
			parts = append(parts, "…")
			break
		}
		if x.first == x.last {
			parts = append(parts, fmt.Sprint(x.first))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", x.first, x.last))
		}
	}
	return strings.Join(parts, ", ")
}

// after moves the runs to where their lines are when the hunks are applied. The
// new lines of a hunk belong to s if inherits says so of its old ones.
func (s spans) after(hunks []edit.Hunk, inherits func(old span) bool) spans {
	var out spans
	for _, x := range s {
		out = append(out, x.moved(hunks)...)
	}
	for _, h := range hunks {
		if inherits(span{h.OldStart, h.OldStart + len(h.Old) - 1}) {
			out = append(out, span{h.NewStart, h.NewStart + len(h.New) - 1})
		}
	}
	return out.normal()
}

// holds tells whether all lines of x are in s; none are always.
func (s spans) holds(x span) bool {
	if x.last < x.first {
		return true
	}
	for _, y := range s {
		if y.first <= x.first && x.last <= y.last {
			return true
		}
	}
	return false
}

// meets tells whether a line of x is in s.
func (s spans) meets(x span) bool {
	for _, y := range s {
		if y.first <= x.last && x.first <= y.last {
			return true
		}
	}
	return false
}

// moved splits one run at the hunks, which are ascending, and shifts the parts.
func (x span) moved(hunks []edit.Hunk) []span {
	var out []span
	shift := 0
	for _, h := range hunks {
		first, last := h.OldStart, h.OldStart+len(h.Old)-1
		if len(h.Old) == 0 { // put in after line OldStart
			first, last = h.OldStart+1, h.OldStart
		}
		if first > x.last {
			break
		}
		if part := (span{x.first + shift, min(x.last, first-1) + shift}); part.first <= part.last {
			out = append(out, part)
		}
		x.first = max(x.first, last+1)
		shift += len(h.New) - len(h.Old)
	}
	if x.first <= x.last {
		out = append(out, span{x.first + shift, x.last + shift})
	}
	return out
}

// without takes single lines out of the runs; both are in normal form.
func (s spans) without(lines spans) spans {
	out := s
	for _, l := range lines {
		var next spans
		for _, x := range out {
			for _, part := range [...]span{{x.first, min(x.last, l.first-1)}, {max(x.first, l.last+1), x.last}} {
				if part.first <= part.last {
					next = append(next, part)
				}
			}
		}
		out = next.normal()
	}
	return out
}
