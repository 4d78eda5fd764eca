package search

import (
	"slices"
	"strings"
)

// globStyle says what a pattern without "/" means.
type globStyle int

const (
	wholePath globStyle = iota // the whole path, always
	baseName                   // the last component, at any depth
	exclusion                  // as baseName; a final "/" means folders only
)

// compileGlobs compiles patterns into one set. "./" and "//" are normalised; a
// final "/" means all below that folder.
func compileGlobs(patterns []string, style globStyle) (*globs, error) {
	g := &globs{}
	for _, p := range patterns {
		if err := g.add(p, style); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *globs) add(pattern string, style globStyle) error {
	if err := checkGlob(pattern); err != nil {
		return err
	}
	alts, ok := expandBraces(pattern)
	if !ok || len(alts)+len(g.alts) > maxGlobAlts {
		return &GlobError{pattern, -1, "its braces stand for more than 1024 patterns", nil}
	}
	for _, text := range alts {
		alt, err := compileAlt(text, style)
		if err != nil {
			err.Pattern = pattern
			return err
		}
		if alt != nil {
			g.alts = append(g.alts, *alt)
		}
	}
	return nil
}

// checkGlob finds what is malformed before anything is expanded.
func checkGlob(p string) error {
	bad := func(at int, reason string) error { return &GlobError{p, at, reason, nil} }
	switch {
	case p == "":
		return bad(-1, "it is empty")
	case len(p) > maxGlobBytes:
		return bad(-1, "it is longer than 4096 bytes")
	case strings.IndexByte(p, 0) >= 0:
		return bad(strings.IndexByte(p, 0), "it holds a NUL byte")
	}
	var open []int
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i++; i == len(p) {
				return bad(i-1, `a \ with nothing after it`)
			}
		case '[':
			end := classEnd(p, i)
			if end < 0 {
				return bad(i, `a [ without its ], or with nothing inside (\[ means the character)`)
			}
			i = end
		case '{':
			if open = append(open, i); len(open) > maxGlobDepth {
				return bad(i, "braces nested more than 32 deep")
			}
		case '}':
			if len(open) == 0 {
				return bad(i, `a } without its { (\} means the character)`)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return bad(open[0], `a { without its } (\{ means the character)`)
	}
	return nil
}

// classEnd is the index of the "]" that closes the class opened at p[i], or -1.
func classEnd(p string, i int) int {
	if i++; i < len(p) && (p[i] == '!' || p[i] == '^') {
		i++
	}
	if i < len(p) && p[i] == ']' {
		return -1
	}
	for ; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return -1
}

// expandBraces multiplies out {a,b} in a checked pattern; !ok if there would be too many.
func expandBraces(p string) (out []string, ok bool) {
	open, parts, rest := splitBraces(p)
	if open < 0 {
		return []string{p}, true
	}
	tails, ok := expandBraces(rest)
	if !ok {
		return nil, false
	}
	for _, part := range parts {
		heads, ok := expandBraces(part)
		if !ok || len(out)+len(heads)*len(tails) > maxGlobAlts {
			return nil, false
		}
		for _, head := range heads {
			for _, tail := range tails {
				out = append(out, p[:open]+head+tail)
			}
		}
	}
	return out, true
}

// splitBraces finds the first group: where it opens, its alternatives, and what follows.
func splitBraces(p string) (open int, parts []string, rest string) {
	open = -1
	depth, from := 0, 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(p, i)
		case '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case ',':
			if depth == 1 {
				parts = append(parts, p[from:i])
				from = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return open, append(parts, p[from:i]), p[i+1:]
			}
		}
	}
	return -1, nil, ""
}

// compileAlt compiles a pattern without braces; nil if it is empty, as one side of {a,} may be.
func compileAlt(text string, style globStyle) (*globAlt, *GlobError) {
	if strings.HasPrefix(text, "/") {
		return nil, &GlobError{Offset: -1, Err: ErrPatternEscapes,
			Reason: "it must be relative to the folder searched, not begin with /"}
	}
	parts := splitSlashes(text)
	folder := len(parts) > 1 && parts[len(parts)-1] == ""
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" || s == "." })
	if len(parts) == 0 && !folder {
		return nil, nil
	}
	alt := &globAlt{}
	if style != wholePath && len(parts) == 1 && (style == exclusion || !folder) {
		parts = append([]string{"**"}, parts...)
	}
	if folder && style == exclusion {
		alt.dirOnly = true
	} else if folder {
		parts = append(parts, "**")
	}
	return alt, alt.compile(parts)
}

func (a *globAlt) compile(parts []string) *GlobError {
	a.literal = true
	for _, part := range parts {
		seg := compileSegment(part)
		if seg.kind == segLiteral && seg.text == ".." {
			return &GlobError{Offset: -1, Err: ErrPatternEscapes, Reason: `it climbs out with ".."`}
		}
		if seg.kind == segDoubleStar {
			if n := len(a.segs); n > 0 && a.segs[n-1].kind == segDoubleStar {
				continue
			}
			a.stars |= 1 << min(len(a.segs), 63)
		}
		a.literal = a.literal && seg.kind == segLiteral
		a.segs = append(a.segs, seg)
	}
	if len(a.segs) > maxGlobSegments {
		return &GlobError{Offset: -1, Reason: "it has more than 62 components"}
	}
	a.accept = 1 << len(a.segs)
	return nil
}

// splitSlashes splits at "/" outside of classes; "\/" is a "/" too.
func splitSlashes(p string) []string {
	var parts []string
	from := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i++; p[i] == '/' {
				parts = append(parts, p[from:i-1])
				from = i + 1
			}
		case '[':
			i = classEnd(p, i)
		case '/':
			parts = append(parts, p[from:i])
			from = i + 1
		}
	}
	return append(parts, p[from:])
}
