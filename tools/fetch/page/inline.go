package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// inline gathers the text of a paragraph. White space is one blank; a line break is
// a "\n".
type inline struct {
	b       []byte
	blank   bool // a blank is due before the next character
	flat    bool // blocks inside count as text
	heading bool
	link    bool    // inside a link: there is no link in a link
	code    bool    // the text of code: nothing is escaped
	tex     *string // what ends the formula that the text is in; nil: the page has none
	bold    bool
	italic  bool
	struck  bool

	mark   string // that ends the emphasis at closed
	closed int    // the length of b right behind an emphasis
	linked int    // and behind a link
}

// take is the text, and the end of it.
func (in *inline) take() string {
	s := strings.Trim(string(in.b), "\n ")
	in.b, in.blank, in.closed, in.linked = in.b[:0], false, 0, 0
	if in.tex != nil { // a formula ends with its paragraph
		*in.tex = ""
	}
	return s
}

// text adds text of the page.
func (in *inline) text(s string, plain bool) {
	for len(s) > 0 {
		i := strings.IndexFunc(s, isBlankRune)
		word := s
		if i >= 0 {
			word = s[:i]
		}
		if word != "" {
			free := (in.blank || len(in.b) == 0) && i >= 0 // blanks on both sides
			in.space()
			switch {
			case plain || in.code || in.isTeX(word):
				in.b = append(in.b, word...)
			case in.link && strings.Contains(word, "]("):
				in.b = append(in.b, linkText(word)...)
			default:
				if word[0] == '(' && len(in.b) > 0 && in.b[len(in.b)-1] == ']' { // from two elements
					in.b = append(in.b, '\\')
				}
				in.b = appendEscaped(in.b, word, free)
			}
		}
		if i < 0 {
			return
		}
		in.blank = true
		s = strings.TrimLeftFunc(s[i:], isBlankRune)
	}
}

// linkText is a text for the inside of a link.
func linkText(s string) string {
	escaped := string(appendEscaped(nil, strings.NewReplacer("[", "\x00", "]", "\x01").Replace(s), false))
	return strings.NewReplacer("\x00", `\[`, "\x01", `\]`).Replace(escaped)
}

// isTeX tells whether a word is of a formula that a script of the page would draw.
// There nothing is escaped, for it would be another formula.
func (in *inline) isTeX(word string) bool {
	if in.tex == nil {
		return false
	}
	is := *in.tex != ""
	for rest := word; rest != ""; {
		if *in.tex != "" {
			i := strings.Index(rest, *in.tex)
			if i < 0 {
				return true
			}
			rest, *in.tex = rest[i+2:], ""
			continue
		}
		i, end := firstTeX(rest)
		if i < 0 {
			return is
		}
		is, rest, *in.tex = true, rest[i+2:], end
	}
	return is
}

// firstTeX is where a formula begins, and what ends it.
func firstTeX(s string) (at int, end string) {
	at = -1
	for _, p := range [][2]string{{`\(`, `\)`}, {`\[`, `\]`}, {"$$", "$$"}} {
		if i := strings.Index(s, p[0]); i >= 0 && (at < 0 || i < at) {
			at, end = i, p[1]
		}
	}
	return at, end
}

func isBlankRune(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\f', 0xA0, 0x202F, 0x2007, 0x2009, 0x200A:
		return true
	}
	return false
}

// space adds the blank that is due.
func (in *inline) space() {
	if in.blank && len(in.b) > 0 && in.b[len(in.b)-1] != '\n' {
		in.b = append(in.b, ' ')
	}
	in.blank = false
}

// raw adds text that is Markdown already.
func (in *inline) raw(s string) {
	in.space()
	in.b = append(in.b, s...)
}

func (in *inline) lineBreak() {
	in.blank = false
	in.b = append(in.b, '\n')
}

func (r *renderer) inlineChildren(in *inline, n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			in.text(c.Data, r.plain)
		case html.ElementNode:
			r.inline(in, c)
		}
	}
}

// inline adds an element to a paragraph.
func (r *renderer) inline(in *inline, n *html.Node) {
	switch n.DataAtom {
	case atom.Br:
		in.lineBreak()
	case atom.A:
		r.anchor(in, n)
	case atom.Img:
		r.image(in, n)
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		r.inlineCode(in, n)
	case atom.B, atom.Strong:
		r.emphasis(in, n, "**", &in.bold)
	case atom.I, atom.Em, atom.Dfn:
		r.emphasis(in, n, "*", &in.italic)
	case atom.Del, atom.S, atom.Strike:
		r.emphasis(in, n, "~~", &in.struck)
	case atom.Q:
		in.raw("“")
		r.inlineChildren(in, n)
		in.blank = false
		in.raw("”")
	case atom.Sup, atom.Sub:
		r.raised(in, n)
	case atom.Time:
		in.blank = true
		r.inlineChildren(in, n)
		in.blank = true
	case atom.Rt:
		in.blank = false
		in.raw("(" + strings.TrimSpace(textOf(n, 0)) + ")")
	case atom.Rp, atom.Wbr, atom.Source, atom.Track, atom.Param:
	case atom.Input:
		r.checkbox(in, n)
	case atom.Math, atom.Script:
		r.formula(in, n)
	case atom.Video, atom.Audio, atom.Iframe, atom.Embed, atom.Object, atom.Frame:
		r.medium(in, n)
	default:
		if isBlock(n) && in.flat {
			in.blank = true
			r.inlineChildren(in, n)
			in.blank = true
			return
		}
		r.inlineChildren(in, n)
	}
}

// part is what is below n as a text of its own, and whether blanks are around it.
func (r *renderer) part(in *inline, n *html.Node, change func(*inline)) (text string, before, after bool) {
	sub := inline{flat: true, tex: in.tex, heading: in.heading, link: in.link, code: in.code, bold: in.bold, italic: in.italic, struck: in.struck}
	if change != nil {
		change(&sub)
	}
	r.inlineChildren(&sub, n)
	after = sub.blank
	text = string(sub.b)
	raw := textOf(n, 8)
	before = raw != "" && isBlankRune(firstRune(raw))
	return strings.Trim(text, "\n "), before, after
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// emphasis puts marks around a part, close to its first and last character.
func (r *renderer) emphasis(in *inline, n *html.Node, mark string, is *bool) {
	if *is || r.plain || in.heading && mark == "**" {
		r.inlineChildren(in, n)
		return
	}
	text, before, after := r.part(in, n, func(sub *inline) {
		sub.bold, sub.italic, sub.struck = in.bold || mark == "**", in.italic || mark == "*", in.struck || mark == "~~"
	})
	in.blank = in.blank || before
	if text != "" {
		for i, line := range strings.Split(text, "\n") { // marks do not reach over a line break
			if i > 0 {
				in.lineBreak()
			}
			if line = strings.TrimSpace(line); line != "" {
				in.emphasize(line, mark)
			}
		}
	}
	in.blank = in.blank || after
}

// emphasize adds text between marks. One emphasis right behind another like it goes
// on with that: between them the marks would be other marks.
func (in *inline) emphasize(text, mark string) {
	if in.closed > 0 && in.closed == len(in.b) && in.mark == mark && !in.blank {
		in.b = in.b[:len(in.b)-len(mark)]
	} else {
		in.space()
		in.b = append(in.b, mark...)
	}
	in.b = append(append(in.b, text...), mark...)
	in.closed, in.mark = len(in.b), mark
}

func (r *renderer) anchor(in *inline, n *html.Node) {
	text, before, after := r.part(in, n, func(sub *inline) { sub.link = true })
	text = strings.Join(strings.Fields(text), " ")
	in.blank = in.blank || before
	defer func() { in.blank = in.blank || after }()
	if text == "" || isPermalink(n, text) {
		return
	}
	href := absolute(r.base, attr(n, "href"))
	part := strings.HasPrefix(strings.TrimSpace(attr(n, "href")), "#")
	if part && !in.blank && len(in.b) > 0 && strings.IndexByte("[(", in.b[len(in.b)-1]) < 0 && strings.Trim(text, "0123456789") == "" { // a footnote
		text = "[" + text + "]"
	}
	if in.link || r.plain || href == "" || part {
		in.raw(text)
		return
	}
	if in.linked > 0 && in.linked == len(in.b) {
		in.blank = true
	}
	defer func() { in.linked = len(in.b) }()
	if text == href || "mailto:"+text == href {
		in.raw("<" + text + ">")
		return
	}
	in.raw("[" + text + "](" + href + ")")
}

// isPermalink: the mark at a heading or line that leads to itself.
func isPermalink(n *html.Node, text string) bool {
	switch text {
	case "top":
		return strings.HasPrefix(attr(n, "href"), "#top")
	case "¶", "#", "\\#", "§", "🔗", "\u200b", "", "⚓", "⚓︎", "◆":
		return strings.Contains(attr(n, "href"), "#") || strings.Contains(classOf(n), "anchor")
	}
	return false
}

func (r *renderer) image(in *inline, n *html.Node) {
	alt := strings.Join(strings.Fields(attr(n, "alt")), " ")
	if alt == "" {
		alt = strings.Join(strings.Fields(attr(n, "title")), " ")
	}
	if strings.Contains(classOf(n), "mwe-math") { // a formula as a picture
		in.raw(dollars(alt))
		return
	}
	if r.plain || in.heading {
		in.text(alt, r.plain)
		return
	}
	if (hasAttr(n, "alt") && alt == "") || attr(n, "width") == "1" || attr(n, "height") == "1" {
		return // by its author's word only decoration, or there to count readers
	}
	src := absolute(r.base, sourceOf(n))
	if src == "" || len(src) > maxImageLink {
		in.text(alt, false)
		return
	}
	text := string(appendEscaped(nil, alt, false))
	if strings.Contains(alt, "](") {
		text = linkText(alt)
	}
	in.raw("![" + text + "](" + src + ")")
}

// maxImageLink is the length of a link above which it is data, not an address.
const maxImageLink = 1 << 10

// sourceOf is the address of a picture, which many pages load late.
func sourceOf(n *html.Node) string {
	src := attr(n, "src")
	if src != "" && !strings.HasPrefix(src, "data:") {
		return src
	}
	for _, key := range []string{"data-src", "data-original", "data-lazy-src"} {
		if s := attr(n, key); s != "" {
			return s
		}
	}
	for _, key := range []string{"srcset", "data-srcset"} {
		if s, _, _ := strings.Cut(strings.TrimSpace(attr(n, key)), " "); s != "" {
			return strings.TrimSuffix(s, ",")
		}
	}
	return ""
}

// inlineCode is code within a line. A link that is all of it stays one.
func (r *renderer) inlineCode(in *inline, n *html.Node) {
	raw := lineText(n)
	text := strings.Join(strings.Fields(raw), " ")
	if text == "" {
		in.blank = in.blank || raw != ""
		return
	}
	in.blank = in.blank || isBlankRune(firstRune(raw))
	if r.plain || in.code {
		in.raw(text)
		return
	}
	code := codeSpan(text)
	if a := onlyLink(n); a != nil && !in.link {
		if href := absolute(r.base, attr(a, "href")); href != "" && !strings.HasPrefix(attr(a, "href"), "#") {
			code = "[" + code + "](" + href + ")"
		}
	}
	in.raw(code)
	if last, _ := utf8.DecodeLastRuneInString(raw); isBlankRune(last) {
		in.blank = true
	}
}

// lineText is the text below n, line breaks as such.
func lineText(n *html.Node) string {
	if child(n, atom.Br) == nil {
		return textOf(n, 0)
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Br {
			b.WriteByte('\n')
			continue
		}
		b.WriteString(textOf(c, 0))
	}
	return b.String()
}

// codeSpan puts code between more backticks than there are in it in a row.
func codeSpan(text string) string {
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	if text[0] == '`' || text[len(text)-1] == '`' {
		text = " " + text + " "
	}
	return fence + text + fence
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// onlyLink is the link that an element consists of, nil if it is more or none.
func onlyLink(n *html.Node) *html.Node {
	var link *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && strings.TrimSpace(c.Data) == "":
		case c.Type == html.ElementNode && c.DataAtom == atom.A && link == nil:
			link = c
		case c.Type == html.ElementNode && c.DataAtom == atom.Span && link == nil:
			if link = onlyLink(c); link == nil {
				return nil
			}
		default:
			return nil
		}
	}
	return link
}

func (r *renderer) checkbox(in *inline, n *html.Node) {
	if hasAttr(n, "checked") {
		in.raw("[x]")
	} else {
		in.raw("[ ]")
	}
	in.blank = true
}

// medium is a link to what cannot be shown as text.
func (r *renderer) medium(in *inline, n *html.Node) {
	src := attr(n, "src")
	for c := n.FirstChild; c != nil && src == ""; c = c.NextSibling {
		if c.DataAtom == atom.Source {
			src = attr(c, "src")
		}
	}
	if src == "" {
		src = attr(n, "data")
	}
	href := absolute(r.base, src)
	title := strings.Join(strings.Fields(attr(n, "title")+" "+attr(n, "aria-label")), " ")
	if title == "" {
		title = n.Data
	}
	if href == "" || r.plain {
		return
	}
	in.blank = true
	text := string(appendEscaped(nil, title, false))
	if strings.Contains(title, "](") {
		text = linkText(title)
	}
	in.raw("[" + text + "](" + href + ")")
	in.blank = true
}

// formula is mathematics in TeX, where the page has it.
func (r *renderer) formula(in *inline, n *html.Node) {
	if n.DataAtom == atom.Script {
		if isMath(n) {
			in.raw(dollars(textOf(n, maxFormula)))
		}
		return
	}
	if tex := texOf(n); tex != "" {
		in.raw(dollars(tex))
		return
	}
	if alt := attr(n, "alttext"); alt != "" {
		in.raw(dollars(alt))
		return
	}
	if n.DataAtom == atom.Math {
		in.raw(linear(n, 0))
		return
	}
	r.inlineChildren(in, n)
}

const maxFormula = 16 << 10

func dollars(tex string) string {
	tex = strings.Join(strings.Fields(tex), " ")
	if tex == "" {
		return ""
	}
	return "$" + tex + "$"
}

// texOf is the annotation of MathML that holds TeX.
func texOf(n *html.Node) string {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if c.Data == "annotation" && strings.Contains(attr(c, "encoding"), "tex") {
			return textOf(c, maxFormula)
		}
		if tex := texOf(c); tex != "" {
			return tex
		}
	}
	return ""
}

const (
	plainDigits = "0123456789+-=()n"
	upDigits    = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ"
	downDigits  = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙ"
)

// raised writes a raised or lowered part: as such where Unicode can, as it is where
// it is a reference or the end of a number (1st), and else behind "^" or "_".
func (r *renderer) raised(in *inline, n *html.Node) {
	text := strings.TrimSpace(textOf(n, 100))
	digits, mark := upDigits, "^"
	if n.DataAtom == atom.Sub {
		digits, mark = downDigits, "_"
	}
	if s, ok := translate(strings.ReplaceAll(text, "−", "-"), digits); ok && !hasLink(n) {
		in.raw(s)
		return
	}
	letters := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
	switch {
	case text == "", hasLink(n), text[0] == '[', letters && n.DataAtom == atom.Sup && in.endsInDigit():
		r.inlineChildren(in, n)
		return
	case letters:
		in.raw(mark)
		r.inlineChildren(in, n)
		return
	}
	in.raw(mark + "(")
	r.inlineChildren(in, n)
	in.blank = false
	in.raw(")")
}

func (in *inline) endsInDigit() bool {
	return !in.blank && len(in.b) > 0 && '0' <= in.b[len(in.b)-1] && in.b[len(in.b)-1] <= '9'
}

func translate(s, digits string) (string, bool) {
	if s == "" {
		return "", false
	}
	to := []rune(digits)
	var b strings.Builder
	for _, r := range s {
		i := strings.IndexRune(plainDigits, r)
		if i < 0 {
			return "", false
		}
		b.WriteRune(to[i])
	}
	return b.String(), true
}

func hasLink(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.A || hasLink(c) {
			return true
		}
	}
	return false
}
