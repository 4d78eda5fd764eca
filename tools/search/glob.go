package search

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// Bounds on one glob. They are far above what anyone writes by hand; what is
// beyond them is refused, so that no pattern costs more than a moment.
const (
	maxGlobBytes    = 4096
	maxGlobAlts     = 1024 // after the braces are multiplied out
	maxGlobDepth    = 32   // braces in braces
	maxGlobSegments = 62   // components; one bit each, and one for "matched"
)

// ErrPatternEscapes: the glob is absolute or climbs with "..". Test with errors.Is.
var ErrPatternEscapes = errors.New("pattern escapes its folder")

// A GlobError says what is wrong with a glob.
type GlobError struct {
	Pattern string
	Offset  int // byte offset of the fault, -1 if it has no single place
	Reason  string
	Err     error // ErrPatternEscapes or nil
}

func (e *GlobError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("bad glob %s: %s", clip(e.Pattern), e.Reason)
	}
	return fmt.Sprintf("bad glob %s: %s at position %d", clip(e.Pattern), e.Reason, e.Offset+1)
}

func (e *GlobError) Unwrap() error { return e.Err }

// clip quotes the beginning of a pattern for a message.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:most], ""))
	}
	return fmt.Sprintf("%q", s)
}

// CheckGlob reports what is wrong with a pattern as list_files takes it.
func CheckGlob(pattern string) error {
	_, err := compileGlobs([]string{pattern}, wholePath)
	return err
}

// globs is a set of patterns. A path matches if one alternative of one pattern
// does. They are run as small automata, one component of a path at a time, so
// that a walk pays for the last component only and sees at once which folders
// cannot hold a match.
type globs struct {
	alts []globAlt
}

// globAlt is a pattern without braces: a list of components.
type globAlt struct {
	segs    []segment
	stars   uint64 // bit i: segs[i] is **
	accept  uint64 // the bit behind the last component
	literal bool   // no wildcard at all
	dirOnly bool   // matches folders only (excludes that end in "/")
}

// A globState is how far one alternative has come: bit i stands for "segs[i] is next".
type globState struct {
	alt  int32
	bits uint64
}

// start is the state above the first component.
func (g *globs) start() []globState {
	states := make([]globState, 0, len(g.alts))
	for i := range g.alts {
		states = append(states, globState{int32(i), g.alts[i].closure(1)})
	}
	return states
}

// closure adds that ** may stand for no component at all.
func (a *globAlt) closure(b uint64) uint64 { return b | (b&a.stars)<<1 }

// stepMode says which names wildcards may stand for.
type stepMode int

const (
	anyName     stepMode = iota // every name
	visibleName                 // a leading dot needs a dot in the pattern, as in a shell
	namedOnly                   // only components without wildcard count
	literalOnly                 // only patterns without wildcard count
	wildOnly                    // as anyName, but only patterns with wildcards count
)

// modeFor is visibleName unless hidden names were asked for.
func modeFor(hidden bool) stepMode {
	if hidden {
		return anyName
	}
	return visibleName
}

// advance is the state of a after one more component.
func (a *globAlt) advance(b uint64, name string, mode stepMode) uint64 {
	var next uint64
	dot := isHidden(name)
	for rest := b &^ a.accept; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		seg := &a.segs[i]
		switch {
		case seg.kind != segLiteral && (mode == namedOnly || mode == literalOnly):
		case seg.kind == segDoubleStar:
			if !dot || mode != visibleName {
				next |= 1 << i
			}
		case dot && mode == visibleName && !seg.dot:
		case seg.match(name):
			next |= 1 << (i + 1)
		}
	}
	return a.closure(next)
}

// step moves all states over one component and reports whether the path matches
// now, and whether something below it could.
func (g *globs) step(from []globState, name string, mode stepMode) (to []globState, match, below bool) {
	for _, s := range from {
		a := &g.alts[s.alt]
		if a.literal && mode == wildOnly || !a.literal && mode == literalOnly {
			continue
		}
		b := a.advance(s.bits, name, mode)
		if b == 0 {
			continue
		}
		match = match || b&a.accept != 0
		if b&^a.accept != 0 {
			below = true
			to = append(to, globState{s.alt, b})
		}
	}
	return to, match, below
}

// matches is step for a file: no state is built.
func (g *globs) matches(from []globState, name string, mode stepMode) bool {
	for _, s := range from {
		a := &g.alts[s.alt]
		if a.dirOnly || mode == literalOnly && !a.literal {
			continue
		}
		if a.advance(s.bits, name, mode)&a.accept != 0 {
			return true
		}
	}
	return false
}

// nextNames lists the only names that can lead on from the states, when there
// are such: then a folder need not be read to be searched.
func (g *globs) nextNames(states []globState) (names []string, ok bool) {
	for _, s := range states {
		a := &g.alts[s.alt]
		for rest := s.bits &^ a.accept; rest != 0; rest &= rest - 1 {
			seg := &a.segs[bits.TrailingZeros64(rest)]
			if seg.kind != segLiteral {
				return nil, false
			}
			names = append(names, seg.text)
		}
	}
	return names, true
}

// matchPath matches a whole path; a walk uses step.
func (g *globs) matchPath(path string, mode stepMode) bool {
	states := g.start()
	for {
		name, rest, more := strings.Cut(path, "/")
		if !more {
			return g.matches(states, name, mode)
		}
		states, _, _ = g.step(states, name, mode)
		path = rest
	}
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }
