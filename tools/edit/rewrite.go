package edit

import (
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A rewriter turns new_string into what is written at a place, so that all it has
// in common with old_string stays as the file has it.
type rewriter struct {
	text     string
	old, new []string // as tokens, see tokenize
	sought   string   // old_string as sent
	whole    string   // new_string as sent
	fold     fold     // under which old_string was found
	literal  bool     // line breaks are taken as sent
	breaks   bool     // new_string has line breaks to adapt
	ending   string   // of the file's lines; in a mixed file the majority's
	uniform  bool
	adapted  string     // whole, with that ending
	diffs    []lcs.Diff // from old to new
	aligned  bool       // old, new and diffs are filled in
	quotes   fileQuotes
	passed   int    // see endingBefore: up to where it has looked,
	before   string // and what it has found
}

func newRewriter(text string, r Request, f fold) *rewriter {
	w := &rewriter{text: text, sought: r.Old, whole: r.New, fold: f, adapted: r.New, uniform: true}
	w.breaks = strings.ContainsAny(r.New, "\r\n")
	if w.breaks {
		w.literal = sameButEndings(r.Old, r.New)
	}
	if w.breaks && !w.literal {
		e := CountEndings(text)
		w.ending = e.Majority()
		_, w.uniform = e.Uniform()
		w.adapted = withEndings(r.New, w.ending)
	}
	w.quotes.text = text
	return w
}

// at is the replacement of the place p. It fails only when a pair of quotation
// marks would come out half straight and half curly.
func (w *rewriter) at(p place) (string, error) {
	matched := w.text[p.start:p.end]
	if w.fold != foldLooks {
		if !w.breaks || w.literal {
			return w.whole, nil
		}
		if w.uniform && conforms(matched, w.ending) {
			return w.adapted, nil
		}
	}
	w.align()
	c := w.compose(p)
	if w.fold == foldLooks && c.halfCurly() {
		return "", w.quotes.refusal(p)
	}
	return c.out.String(), nil
}

// conforms tells whether all breaks in a piece of a uniform text are its ending; a
// stray "\r" is a break to the folding, and must be kept where it corresponds.
func conforms(s, ending string) bool {
	switch ending {
	case "\n":
		return strings.IndexByte(s, '\r') < 0
	case "\r\n":
		return countByte(s, '\r') == strings.Count(s, "\r\n")
	}
	return true
}

// align compares old and new once, for all places.
func (w *rewriter) align() {
	if w.aligned {
		return
	}
	w.aligned = true
	w.old, w.new = tokenize(w.sought), tokenize(w.whole)
	a, b := equalBreaks(w.old), equalBreaks(w.new)
	// Trimming both ends first keeps unchanged characters where they are, however
	// large the middle; the comparison itself gives up on large differences.
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	w.diffs = lcs.DiffLines(a[head:len(a)-tail], b[head:len(b)-tail])
	for i := range w.diffs {
		d := &w.diffs[i]
		d.Start, d.End = d.Start+head, d.End+head
		d.ReplStart, d.ReplEnd = d.ReplStart+head, d.ReplEnd+head
	}
}

// tokenize parts s into words, line breaks, and single characters.
func tokenize(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		n := tokenLen(s[i:])
		out = append(out, s[i:i+n])
		i += n
	}
	return out
}

func tokenLen(s string) int {
	if isBreak(s) {
		_, n := foldBreaks.next(s, 0)
		return n
	}
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !isWord(r) || r == utf8.RuneError {
			break
		}
		n += size
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(s)
	}
	return n
}

func isBreak(token string) bool {
	return token != "" && (token[0] == '\n' || token[0] == '\r')
}

func equalBreaks(tokens []string) []string {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		if isBreak(t) {
			t = "\n"
		}
		out[i] = t
	}
	return out
}

// A composer writes one replacement, token by token.
type composer struct {
	w      *rewriter
	place  place
	kept   []string // what the file has for each token of old
	out    strings.Builder
	ending string // of the last line break before what comes next
	seen   seenQuotes
	has    map[string]string // see asFile
}

func (w *rewriter) compose(p place) *composer {
	c := &composer{w: w, place: p, kept: w.fileTokens(p)}
	if w.fold == foldLooks {
		c.seen = w.quotes.seen(p)
	}
	o, n := 0, 0
	for _, d := range w.diffs {
		c.keep(o, d.Start, n, d.ReplStart)
		for n = d.ReplStart; n < d.ReplEnd; n++ {
			c.insert(n)
		}
		o = d.End
	}
	c.keep(o, len(w.old), n, len(w.new))
	return c
}

// fileTokens parts the text at p as old is parted.
func (w *rewriter) fileTokens(p place) []string {
	matched := w.text[p.start:p.end]
	out := make([]string, len(w.old))
	for i, t := range w.old {
		n := len(t)
		switch {
		case isBreak(t):
			_, n = foldBreaks.next(matched, 0)
		case w.fold == foldLooks && looks(t) != 0:
			_, n = foldLooks.next(matched, 0)
		}
		out[i], matched = matched[:n], matched[n:]
	}
	return out
}

// looks is the ASCII form of a token that has look-alikes, or 0.
func looks(token string) byte {
	code, n := foldLooks.next(token, 0)
	if n == len(token) && code != '\n' && foldLooks.folds(code) {
		return code
	}
	return 0
}

// keep writes old tokens o to oEnd, which are new tokens n to nEnd, as the file has them.
func (c *composer) keep(o, oEnd, n, nEnd int) {
	first, last := o, oEnd-1
	for ; o < oEnd; o, n = o+1, n+1 {
		token := c.kept[o]
		switch {
		case isBreak(token) && c.w.literal:
			token = c.w.new[n]
		case isBreak(token):
			c.ending = token
		case c.w.fold == foldLooks && isCurly(token):
			// Beside a change, an opening mark may have become a closing one.
			moved := o == first && o > 0 || o == last && o < len(c.kept)-1
			if moved {
				token = c.turned(token, n)
			}
		}
		c.write(token)
	}
}

// write keeps two line breaks two where the file's "\r" comes before a "\n".
func (c *composer) write(token string) {
	if token == "\n" && strings.HasSuffix(c.out.String(), "\r") {
		token = "\r\n"
	}
	c.out.WriteString(token)
}

// insert writes new token n, which old_string does not have.
func (c *composer) insert(n int) {
	token := c.w.new[n]
	switch {
	case isBreak(token) && !c.w.literal:
		token = c.breakFor(token)
	case c.w.fold != foldLooks:
	case looks(token) == '"' || looks(token) == '\'':
		token = c.quote(token, n)
	case len(token) > 1 && looks(token) != 0:
		token = c.asFile(token)
	}
	c.write(token)
}

// breakFor is the ending for a line that old_string does not have: in a uniform
// file its ending, else that of the line before.
func (c *composer) breakFor(token string) string {
	if c.w.uniform {
		return withEndings(token, c.w.ending)
	}
	if c.ending == "" {
		c.ending = c.w.endingBefore(c.place.start)
	}
	return c.ending
}

// endingBefore is the ending of the last line that ends before offset; before the
// first one it is what most lines have. Offsets must ascend.
func (w *rewriter) endingBefore(offset int) string {
	if i := strings.LastIndexByte(w.text[w.passed:offset], '\n'); i >= 0 {
		w.before = "\n"
		if i += w.passed; i > 0 && w.text[i-1] == '\r' {
			w.before = "\r\n"
		}
	}
	w.passed = offset
	if w.before == "" {
		return w.ending
	}
	return w.before
}

// asFile is what the file has for a special dash or blank that the model wrote
// where the file, at this place, always has the same other one.
func (c *composer) asFile(token string) string {
	if c.has == nil {
		c.has = map[string]string{}
		for i, t := range c.w.old {
			if looks(t) == 0 {
				continue
			}
			has := c.kept[i]
			if had, ok := c.has[t]; ok && had != has {
				has = t // not always the same: as sent
			}
			c.has[t] = has
		}
	}
	if has, ok := c.has[token]; ok {
		return has
	}
	return token
}
