package search

import (
	"bytes"
	"strings"
)

// Bounds on ignore files, in bytes: what is read of one, and of all that are in
// force in one folder. Further rules do not count.
const (
	maxIgnoreFile = 1 << 20
	maxIgnoreSum  = 8 << 20
)

// A ruleSet is one ignore file, compiled. The last rule that matches decides, so
// rules are found by what is cheapest to look up, and the highest number wins.
type ruleSet struct {
	size  int // bytes of text
	rules []ignoreRule
	names map[string][]int // by base name: "node_modules"
	exts  map[string][]int // by last extension: "*.o"
	paths map[string][]int // by path below the file's folder: "/build/out"
	other []int            // all that need a matcher
}

type ignoreRule struct {
	negated  bool // "!": take back
	dirOnly  bool // "/" at the end
	disabled bool // see ignores.allowBase
	anchored bool // matched against the path, not the base name
	wild     bool // has wildcards: glob is set
	text     string
	glob     *gitGlob
}

// parseIgnore reads an ignore file the way git does. Nothing in it is an error:
// a malformed rule matches nothing. It returns nil when there is no rule.
func parseIgnore(text []byte) *ruleSet {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(text) > maxIgnoreFile {
		text = text[:bytes.LastIndexByte(text[:maxIgnoreFile], '\n')+1]
	}
	s := &ruleSet{size: len(text), names: map[string][]int{}, exts: map[string][]int{}, paths: map[string][]int{}}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if nul := bytes.IndexByte(line, 0); nul >= 0 {
			line = line[:nul] // git's lines are C strings
		}
		s.add(trimTrailingSpaces(string(line)))
	}
	if len(s.rules) == 0 {
		return nil
	}
	return s
}

// trimTrailingSpaces cuts spaces at the end, but not one behind a backslash.
func trimTrailingSpaces(s string) string {
	last := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if last < 0 {
				last = i
			}
			continue
		case '\\':
			i++
		}
		last = -1
	}
	if last < 0 || s[len(s)-1] != ' ' {
		return s
	}
	return s[:last]
}

func (s *ruleSet) add(text string) {
	var r ignoreRule
	if strings.HasPrefix(text, "!") {
		r.negated = true
		text = text[1:]
	}
	if strings.HasSuffix(text, "/") {
		r.dirOnly = true
		text = text[:len(text)-1]
	}
	if text == "" {
		return
	}
	r.anchored = strings.Contains(text, "/")
	r.text = strings.TrimPrefix(text, "/")
	n := len(s.rules)
	if r.wild = strings.ContainsAny(r.text, `*?[\`); r.wild {
		r.glob = compileGitGlob(r.text, r.anchored)
	}
	switch {
	case r.wild && r.glob.never:
		return
	case isExtension(r):
		s.exts[r.text[1:]] = append(s.exts[r.text[1:]], n)
	case r.wild:
		s.other = append(s.other, n)
	case r.anchored:
		s.paths[r.text] = append(s.paths[r.text], n)
	default:
		s.names[r.text] = append(s.names[r.text], n)
	}
	s.rules = append(s.rules, r)
}

// isExtension reports whether the rule is "*.ext" and ext a last extension.
func isExtension(r ignoreRule) bool {
	return !r.anchored && strings.HasPrefix(r.text, "*.") && !strings.ContainsAny(r.text[2:], `.*?[\`)
}

// decide finds the last rule that matches path, slash-separated below the folder
// of the ignore file; -1 if none does. Disabled rules do not count.
func (s *ruleSet) decide(path, base string, dir bool) int {
	best := s.last(-1, s.names[base], dir)
	if len(s.exts) > 0 {
		if dot := strings.LastIndexByte(base, '.'); dot >= 0 {
			best = s.last(best, s.exts[base[dot:]], dir)
		}
	}
	if len(s.paths) > 0 {
		best = s.last(best, s.paths[path], dir)
	}
	for i := len(s.other) - 1; i >= 0 && s.other[i] > best; i-- {
		if r := &s.rules[s.other[i]]; !r.disabled && r.matches(path, base, dir) {
			return s.other[i]
		}
	}
	return best
}

// last is the highest applicable rule of list, or best if that is higher.
func (s *ruleSet) last(best int, list []int, dir bool) int {
	for i := len(list) - 1; i >= 0 && list[i] > best; i-- {
		if r := &s.rules[list[i]]; !r.disabled && (dir || !r.dirOnly) {
			return list[i]
		}
	}
	return best
}

// matches tests one rule by itself.
func (r *ignoreRule) matches(path, base string, dir bool) bool {
	subject := base
	if r.anchored {
		subject = path
	}
	switch {
	case r.dirOnly && !dir:
		return false
	case r.wild:
		return r.glob.match(subject)
	}
	return subject == r.text
}

// allow disables the rules that ignore path, last to first, up to one that takes
// it back; it reports whether there was such a one.
func (s *ruleSet) allow(path, base string, dir bool) bool {
	for i := len(s.rules) - 1; i >= 0; i-- {
		r := &s.rules[i]
		if !r.matches(path, base, dir) {
			continue
		}
		if r.negated {
			return true
		}
		r.disabled = true
	}
	return false
}
