package edit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A styles is a set of ways to write quotation marks.
type styles uint8

const (
	straight styles = 1 << iota
	curly
)

// marks holds the forms of single and of double marks.
var marks = map[byte]struct{ straight, open, close, prime string }{
	'\'': {"'", "‘", "’", "′"},
	'"':  {`"`, "“", "”", "″"},
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

func isCurly(token string) bool {
	switch token {
	case "‘", "’", "“", "”":
		return true
	}
	return false
}

func isPrime(token string) bool { return token == "′" || token == "″" }

// A mark is a quotation mark in a text with the characters around it (0 for none).
type mark struct {
	kind       byte // '\'' or '"'
	form       string
	prev, next rune
}

// apostrophe tells whether the mark stands inside a word.
func (m mark) apostrophe() bool {
	return m.kind == '\'' && isWord(m.prev) && isWord(m.next)
}

func (m mark) style() styles {
	if isCurly(m.form) {
		return curly
	}
	return straight
}

// eachMark calls yield for the quotation marks in text[start:end].
func eachMark(text string, start, end int, yield func(mark)) {
	for i := start; i < end; {
		code, n := foldLooks.next(text, i)
		if code == '\'' || code == '"' {
			yield(mark{code, text[i : i+n], runeBefore(text, i), runeAfter(text, i+n)})
		}
		i += n
	}
}

func runeBefore(s string, i int) rune {
	if i == 0 {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return r
}

func runeAfter(s string, i int) rune {
	if i == len(s) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r
}

// seenQuotes is how a place writes its quotation marks.
type seenQuotes struct {
	apostrophe styles
	pair       map[byte]styles
	prime      map[byte]bool
}

// fileQuotes answers the same for the whole file, and only when asked.
type fileQuotes struct {
	text string
	pair map[byte]styles
}

func (q *fileQuotes) seen(p place) seenQuotes {
	s := seenQuotes{pair: map[byte]styles{}, prime: map[byte]bool{}}
	eachMark(q.text, p.start, p.end, func(m mark) {
		switch {
		case isPrime(m.form):
			s.prime[m.kind] = true
		case m.apostrophe():
			s.apostrophe |= m.style()
		default:
			s.pair[m.kind] |= m.style()
		}
	})
	return s
}

func (q *fileQuotes) styles(kind byte) styles {
	if s, ok := q.pair[kind]; ok {
		return s
	}
	var s styles
	forms := marks[kind]
	if strings.Contains(q.text, forms.straight) {
		s |= straight
	}
	if strings.Contains(q.text, forms.open) || strings.Contains(q.text, forms.close) {
		s |= curly
	}
	if q.pair == nil {
		q.pair = map[byte]styles{}
	}
	q.pair[kind] = s
	return s
}

// quote is what to write for new token n, a quotation mark that old_string does
// not have there: the style of the place, else of the file, else as sent.
func (c *composer) quote(token string, n int) string {
	m := c.markAt(token, n)
	forms := marks[m.kind]
	if isPrime(token) && (c.seen.prime[m.kind] || !strings.Contains(c.w.sought, token)) {
		return token
	}
	if c.seen.prime[m.kind] && unicode.IsDigit(m.prev) && !c.opened(m.kind) {
		return forms.prime
	}
	switch c.styleFor(m) {
	case straight:
		return forms.straight
	case curly:
		return c.oriented(m, n)
	}
	return token
}

// styleFor is one style, or several (or none) when the text gives no rule.
func (c *composer) styleFor(m mark) styles {
	other := byte('\'')
	if m.kind == '\'' {
		other = '"'
	}
	if m.apostrophe() && c.seen.apostrophe != 0 {
		return c.seen.apostrophe
	}
	for _, kind := range [...]byte{m.kind, other} {
		if s := c.seen.pair[kind]; s != 0 {
			return s
		}
	}
	return c.w.quotes.styles(m.kind)
}

// markAt is new token n in its surroundings: what is written so far, and what follows.
func (c *composer) markAt(token string, n int) mark {
	m := mark{kind: looks(token), form: token}
	if out := c.out.String(); out != "" {
		m.prev = runeBefore(out, len(out))
	} else {
		m.prev = runeBefore(c.w.text, c.place.start)
	}
	if n+1 < len(c.w.new) {
		m.next = runeAfter(c.w.new[n+1], 0)
	} else {
		m.next = runeAfter(c.w.text, c.place.end)
	}
	return m
}

const (
	beforeOpening = " \t\r\n\u00a0\u202f\u2007([{<=/-‐‑‒–—―“‘«„"
	afterClosing  = " \t\r\n\u00a0\u202f\u2007)]}>.,;:!?…-‐‑‒–—―”’»"
)

// leans tells from the neighbours alone whether a mark opens or closes.
func (m mark) leans() (opens, sure bool) {
	before := m.prev == 0 || strings.ContainsRune(beforeOpening, m.prev)
	after := m.next == 0 || strings.ContainsRune(afterClosing, m.next)
	return before, before != after
}

// oriented is the curly form of m, new token n.
func (c *composer) oriented(m mark, n int) string {
	forms := marks[m.kind]
	if m.apostrophe() {
		return forms.close
	}
	opens, sure := m.leans()
	if !sure {
		opens = !c.opened(m.kind)
	}
	if opens && m.kind == '\'' && !c.closesLater(n) {
		return forms.close // an elision, as in ’tis
	}
	if opens {
		return forms.open
	}
	return forms.close
}

// turned is a curly mark of the file, kept as new token n beside a change, turned
// the other way if its new neighbours leave no doubt.
func (c *composer) turned(token string, n int) string {
	m := c.markAt(token, n)
	forms := marks[m.kind]
	if m.apostrophe() {
		return forms.close
	}
	opens, sure := m.leans()
	switch {
	case !sure || m.kind == '\'' && opens && token == forms.close:
		return token
	case opens:
		return forms.open
	}
	return forms.close
}

// closesLater tells whether another single mark that ends a word follows on the line.
func (c *composer) closesLater(n int) bool {
	rest := c.w.new[n+1 : min(len(c.w.new), n+200)]
	for i, t := range rest {
		if isBreak(t) {
			return false
		}
		if looks(t) != '\'' || i == 0 {
			continue
		}
		next := rune(0)
		if i+1 < len(rest) {
			next = runeAfter(rest[i+1], 0)
		}
		if !isWord(next) {
			return true
		}
	}
	return false
}

// nearby is how far quotation marks are looked at around a place, in bytes.
const nearby = 2000

// opened tells whether a mark of that kind is open in the line written so far.
func (c *composer) opened(kind byte) bool {
	line := c.out.String()
	line = line[max(0, len(line)-nearby):]
	if i := strings.LastIndexAny(line, "\r\n"); i >= 0 {
		line = line[i+1:]
	} else if len(line) < nearby {
		start, _ := c.w.quotes.around(c.place)
		before := c.w.text[start:c.place.start]
		line = before[strings.LastIndexAny(before, "\r\n")+1:] + line
	}
	b := balanceOf(line, kind)
	return b.open > 0 || b.straight%2 == 1
}

// around widens p to whole lines, or less where lines are very long.
func (q *fileQuotes) around(p place) (start, end int) {
	start, end = max(0, p.start-nearby), min(len(q.text), p.end+nearby)
	start += strings.LastIndexAny(q.text[start:p.start], "\r\n") + 1
	if i := strings.IndexAny(q.text[p.end:end], "\r\n"); i >= 0 {
		end = p.end + i
	}
	return start, end
}

// A balance counts the marks of one kind that have no partner.
type balance struct{ straight, open, close int }

func balanceOf(s string, kind byte) balance {
	var b balance
	eachMark(s, 0, len(s), func(m mark) {
		switch {
		case m.kind != kind || isPrime(m.form) || m.apostrophe():
		case m.form == marks[kind].open:
			b.open++
		case m.form != marks[kind].close:
			b.straight++
		case b.open > 0:
			b.open--
		default:
			b.close++
		}
	})
	return b
}

// half tells whether a curly mark and a straight one look for a partner.
func (b balance) half() bool {
	return b.straight%2 == 1 && b.open+b.close > 0
}

// halfPairs counts the lines of s with such a pair, and s as a whole (for a pair
// whose marks are on different lines).
func halfPairs(s string) (lines, whole int) {
	for _, kind := range [...]byte{'\'', '"'} {
		if balanceOf(s, kind).half() {
			whole++
		}
		for _, line := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if balanceOf(line, kind).half() {
				lines++
			}
		}
	}
	return lines, whole
}

// halfCurly tells whether the replacement makes a pair half curly.
func (c *composer) halfCurly() bool {
	text := c.w.text
	start, end := c.w.quotes.around(c.place)
	lines, whole := halfPairs(text[start:c.place.start] + c.out.String() + text[c.place.end:end])
	if lines+whole == 0 {
		return false
	}
	hadLines, hadWhole := halfPairs(text[start:end])
	return lines > hadLines || whole > hadWhole
}

func (q *fileQuotes) refusal(p place) *NotFoundError {
	e := &NotFoundError{Causes: []string{causeHalfCurly}}
	sep := separator(q.text)
	start := lineStart(q.text, p.start, sep)
	lines := splitLines(q.text[start:lineEnd(q.text, max(p.start, p.end-1), sep)], sep)
	e.show(lines, LineAt(q.text, p.start))
	return e
}

const causeHalfCurly = "the quotation marks differ: the place was found only by taking curly and straight ones as equal, and new_string would leave a pair half curly. Copy the file's own quotation marks"
