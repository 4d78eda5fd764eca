package search

import "strings"

// gitGlob is a pattern of an ignore file with wildcards. It works on bytes, as
// git's wildmatch does. Unlike that it cannot run away: it only ever goes back
// to the last "*" and the last "**", which is enough, since "**" takes whole
// components and an earlier star could only have taken less.
type gitGlob struct {
	prefix string // literal text in front
	tokens []gitToken
	never  bool // malformed: matches nothing
}

type gitTokenKind uint8

const (
	gitByte      gitTokenKind = iota
	gitOne                    // ?
	gitClass                  // [...]
	gitStar                   // *
	gitDirs                   // **/ : any number of components, with their slashes
	gitSomeDirs               // **\/ : the same, at least one
	gitRemainder              // ** at the end
)

type gitToken struct {
	kind gitTokenKind
	lit  byte
	set  *[4]uint64
}

// compileGitGlob compiles a rule without its leading "/" and trailing "/". In an
// anchored one, wildcards other than ** stop at slashes; base names have none.
func compileGitGlob(p string, anchored bool) *gitGlob {
	g := &gitGlob{}
	cut := strings.IndexAny(p, `*?[\`)
	g.prefix, p = p[:cut], p[cut:]
	for i := 0; i < len(p) && !g.never; {
		switch p[i] {
		case '\\':
			if i+1 == len(p) {
				g.never = true
				break
			}
			g.tokens = append(g.tokens, gitToken{kind: gitByte, lit: p[i+1]})
			i += 2
		case '?':
			g.tokens = append(g.tokens, gitToken{kind: gitOne})
			i++
		case '*':
			i = g.addStars(p, i, anchored)
		case '[':
			set, end := parseGitClass(p, i)
			if set == nil {
				g.never = true
				break
			}
			g.tokens = append(g.tokens, gitToken{kind: gitClass, set: set})
			i = end + 1
		default:
			g.tokens = append(g.tokens, gitToken{kind: gitByte, lit: p[i]})
			i++
		}
	}
	return g
}

// addStars adds the stars at p[i] and returns where to go on.
//
// git tests what precedes "**" after it has cut off the literal prefix; hence
// "foo**/bar" is "foo", then any folders.
func (g *gitGlob) addStars(p string, i int, anchored bool) int {
	end := i
	for end < len(p) && p[end] == '*' {
		end++
	}
	if end-i < 2 || !anchored || i > 0 && p[i-1] != '/' {
		g.tokens = append(g.tokens, gitToken{kind: gitStar})
		return end
	}
	switch rest := p[end:]; {
	case rest == "":
		g.tokens = append(g.tokens, gitToken{kind: gitRemainder})
	case rest[0] == '/':
		g.tokens = append(g.tokens, gitToken{kind: gitDirs})
		end++
	case strings.HasPrefix(rest, `\/`):
		g.tokens = append(g.tokens, gitToken{kind: gitSomeDirs})
		end += 2
	default:
		g.tokens = append(g.tokens, gitToken{kind: gitStar})
	}
	return end
}

// match matches the whole of s.
func (g *gitGlob) match(s string) bool {
	if g.never || !strings.HasPrefix(s, g.prefix) {
		return false
	}
	s = s[len(g.prefix):]
	t, n := 0, 0
	starT, starN := -1, 0 // where to go on after the last *
	dirsT, dirsN := -1, 0 // and after the last **/
	for {
		switch {
		case t == len(g.tokens) && n == len(s):
			return true
		case t < len(g.tokens):
			tok := &g.tokens[t]
			switch tok.kind {
			case gitRemainder:
				return true
			case gitStar:
				t++
				starT, starN = t, n
				continue
			case gitDirs:
				t++
				dirsT, dirsN, starT = t, n, -1
				continue
			case gitSomeDirs:
				slash := strings.IndexByte(s[n:], '/')
				if slash < 0 {
					return false
				}
				t++
				n += slash + 1
				dirsT, dirsN, starT = t, n, -1
				continue
			}
			if n < len(s) && tok.matches(s[n]) {
				t++
				n++
				continue
			}
		}
		switch {
		case starT >= 0 && starN < len(s) && s[starN] != '/':
			starN++
			t, n = starT, starN
		case dirsT >= 0:
			slash := strings.IndexByte(s[dirsN:], '/')
			if slash < 0 {
				return false
			}
			dirsN += slash + 1
			t, n, starT = dirsT, dirsN, -1
		default:
			return false
		}
	}
}

func (t *gitToken) matches(c byte) bool {
	switch t.kind {
	case gitByte:
		return c == t.lit
	case gitOne:
		return c != '/'
	}
	return c != '/' && t.set[c>>6]&(1<<(c&63)) != 0
}

// parseGitClass parses the class at p[i] and returns its bytes and the index of
// its "]"; nil if it has none, or names an unknown class.
func parseGitClass(p string, i int) (*[4]uint64, int) {
	at := func(i int) byte { // as in a C string
		if i < len(p) {
			return p[i]
		}
		return 0
	}
	set := new([4]uint64)
	i++
	negated := at(i) == '!' || at(i) == '^'
	if negated {
		i++
	}
	var prev byte
	for first := true; first || at(i) != ']'; first = false {
		c := at(i)
		switch {
		case c == 0:
			return nil, 0
		case c == '\\':
			i++
			if c = at(i); c == 0 {
				return nil, 0
			}
			addRange(set, c, c)
		case c == '-' && prev != 0 && at(i+1) != 0 && at(i+1) != ']':
			i++
			if c = at(i); c == '\\' {
				i++
				if c = at(i); c == 0 {
					return nil, 0
				}
			}
			addRange(set, prev, c)
			c = 0
		case c == '[' && at(i+1) == ':':
			close := strings.IndexByte(p[i+2:], ']')
			if close < 0 {
				return nil, 0
			}
			name := p[i+2 : i+2+close]
			if !strings.HasSuffix(name, ":") {
				addRange(set, '[', '[') // no ":]": an ordinary set
				break
			}
			if !addPosixClass(set, strings.TrimSuffix(name, ":")) {
				return nil, 0
			}
			i += 2 + close
			c = 0
		default:
			addRange(set, c, c)
		}
		prev = c
		i++
	}
	if negated {
		for w := range set {
			set[w] = ^set[w]
		}
	}
	return set, i
}

func addRange(set *[4]uint64, lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		set[c>>6] |= 1 << (c & 63)
	}
}

// addPosixClass adds what is between "[:" and ":]".
func addPosixClass(set *[4]uint64, name string) bool {
	ranges, ok := map[string]string{
		"alnum": "09AZaz", "alpha": "AZaz", "blank": "  \t\t", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09",
		"graph": "!~", "lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "  \t\r", "upper": "AZ", "xdigit": "09AFaf",
	}[name]
	for i := 0; i < len(ranges); i += 2 {
		addRange(set, ranges[i], ranges[i+1])
	}
	return ok
}
