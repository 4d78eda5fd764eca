package page

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// style says how a page is written.
type style struct {
	base  *url.URL
	plain bool // text without any marks of Markdown, and without links
	tex   bool // the page holds formulas in TeX, which a script draws
}

// renderMarkdown writes down what is below n.
func renderMarkdown(n *html.Node, s style) string {
	r := &renderer{style: s, blocks: make(map[*html.Node]bool)}
	if s.tex {
		r.par.tex = new(string)
	}
	r.flow(n)
	r.flush()
	return strings.TrimRight(r.w.b.String(), "\n ")
}

// A renderer writes a tree of nodes. The tree is at most 512 elements deep (the
// parser's limit), so recursion is bounded.
type renderer struct {
	style
	w      writer
	par    inline              // the paragraph that is being gathered
	blocks map[*html.Node]bool // whether there are blocks inside an inline element
	lists  int                 // how deep in lists
}

// flow writes the children of n: blocks as they come, and all between two of them as
// a paragraph.
func (r *renderer) flow(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.node(c)
	}
}

func (r *renderer) node(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		r.par.text(n.Data, r.plain)
	case n.Type != html.ElementNode:
		r.flow(n)
	case isBlock(n):
		r.flush()
		r.block(n)
		r.flush()
	case r.hasBlocks(n) && n.DataAtom == atom.A: // a card: the whole of it is a link
		r.flush()
		r.inline(&r.par, n)
		r.flush()
	case r.hasBlocks(n):
		r.flow(n)
	default:
		r.inline(&r.par, n)
	}
}

// flush ends the paragraph.
func (r *renderer) flush() {
	text := r.par.take()
	for part := range strings.SplitSeq(text, "\n\n") { // two breaks in a row are meant as the end of a paragraph
		switch part = strings.Trim(part, "\n "); {
		case part == "":
		case r.plain:
			r.w.block(part)
		default:
			r.w.block(strings.ReplaceAll(escapeStart(part), "\n", "  \n"))
		}
	}
}

func (r *renderer) block(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.heading(n)
	case atom.Ul, atom.Ol, atom.Menu:
		r.list(n)
	case atom.Dl:
		r.definitions(n)
	case atom.Pre, atom.Xmp, atom.Listing, atom.Plaintext, atom.Textarea:
		r.code(n)
	case atom.Blockquote:
		r.quotation(n)
	case atom.Table:
		r.table(n)
	case atom.Hr:
		if !r.plain {
			r.w.block("---")
		}
	case atom.Details:
		r.details(n)
	case atom.Caption:
	default:
		r.division(n)
	}
}

// division is a block without a form of its own, unless its class gives it one.
func (r *renderer) division(n *html.Node) {
	switch roleOf(n) {
	case isCode:
		r.code(n)
		return
	case isSignature:
		r.signature(n)
		return
	case isBoxTitle:
		if s := r.oneLine(n); s != "" {
			r.w.block(r.strong(s))
		}
		return
	}
	r.w.want(gapBlank)
	r.flow(n)
	r.flush()
	r.w.want(gapBlank)
}

// signature writes the declaration of something as the code it is.
func (r *renderer) signature(n *html.Node) {
	if s := r.signatureText(n); s != "" {
		r.w.block(s)
	}
}

func (r *renderer) signatureText(n *html.Node) string {
	text := strings.Join(strings.Fields(strings.ReplaceAll(codeText(n), "¶", " ")), " ")
	if text == "" || r.plain {
		return text
	}
	return codeSpan(text)
}

func (r *renderer) heading(n *html.Node) {
	title := r.oneLine(n)
	if title == "" {
		return
	}
	if r.plain {
		r.w.block(title)
		return
	}
	r.w.block(strings.Repeat("#", int(n.Data[1]-'0')) + " " + strings.TrimRight(title, "#"))
}

// oneLine is what an element holds, as one line of text with its marks.
func (r *renderer) oneLine(n *html.Node) string {
	var in inline
	in.flat = true
	if isHeading(n) {
		in.heading = true
	}
	r.inlineChildren(&in, n)
	return strings.ReplaceAll(in.take(), "\n", " ")
}

func (r *renderer) quotation(n *html.Node) {
	r.w.want(gapBlank)
	r.w.quote("> ", func() { r.flow(n); r.flush(); r.w.tighten() })
	r.w.want(gapBlank)
}

func (r *renderer) details(n *html.Node) {
	r.w.want(gapBlank)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Summary {
			r.node(c)
			continue
		}
		r.flush()
		if holdsHeading(c) {
			r.flow(c)
			r.flush()
		} else if s := r.oneLine(c); s != "" {
			r.w.block(r.strong(s))
		}
	}
	r.flush()
}

func holdsHeading(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && (isHeading(c) || holdsHeading(c)) {
			return true
		}
	}
	return false
}

// strong makes a line stand out that is no heading.
func (r *renderer) strong(s string) string {
	if s == "" || r.plain || strings.Contains(s, "**") {
		return s
	}
	return "**" + s + "**"
}

func (r *renderer) list(n *html.Node) {
	r.gapAround()
	number, step := 1, 1
	if v, err := strconv.Atoi(attr(n, "start")); err == nil && v >= 0 {
		number = v
	}
	between := gapLine
	if isLoose(n) {
		between = gapBlank
	}
	r.lists++
	first := true
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if c.DataAtom != atom.Li { // against the rules, and common: a list right in a list
			r.looseChild(c)
			continue
		}
		if v, err := strconv.Atoi(attr(c, "value")); err == nil && v >= 0 {
			number = v
		}
		if !first {
			r.w.gap = gapNone
			r.w.want(between)
		}
		if r.listItem(c, r.markerOf(n, number)) {
			first = false
		}
		number += step
	}
	r.lists--
	r.gapAround()
}

// gapAround leaves a blank line around a list that is not inside another.
func (r *renderer) gapAround() {
	if r.lists == 0 {
		r.w.want(gapBlank)
		return
	}
	r.w.want(gapLine)
	r.w.tighten()
}

func (r *renderer) looseChild(n *html.Node) {
	if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol {
		r.w.item("  ", func() { r.w.marker = ""; r.list(n) })
		return
	}
	r.node(n)
	r.flush()
}

func (r *renderer) markerOf(list *html.Node, number int) string {
	if list.DataAtom == atom.Ol {
		return strconv.Itoa(number) + ". "
	}
	return "- "
}

// listItem writes an item and tells whether there was anything in it.
func (r *renderer) listItem(n *html.Node, marker string) (written bool) {
	before := r.w.b.Len()
	gapBefore := r.w.gap
	r.w.item(marker, func() {
		r.flow(n)
		r.flush()
		r.w.tighten()
	})
	if r.w.b.Len() == before {
		r.w.gap = gapBefore
		return false
	}
	return true
}

// isLoose tells whether the items of a list are whole passages, which blank lines
// part.
func isLoose(list *html.Node) bool {
	for li := list.FirstChild; li != nil; li = li.NextSibling {
		paragraphs := 0
		for c := li.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode && strings.TrimSpace(c.Data) != "":
				paragraphs = max(paragraphs, 1)
			case c.DataAtom == atom.P, c.DataAtom == atom.Pre, c.DataAtom == atom.Table, c.DataAtom == atom.Blockquote, c.DataAtom == atom.Dl:
				paragraphs++
			}
		}
		if paragraphs > 1 {
			return true
		}
	}
	return false
}

// definitions writes terms, and behind ": " what they mean.
func (r *renderer) definitions(n *html.Node) {
	r.w.want(gapBlank)
	afterTerm := false
	for c := range entries(n) {
		switch c.DataAtom {
		case atom.Dt:
			term := r.strong(r.oneLine(c))
			if roleOf(c) == isSignature {
				term = r.signatureText(c)
			}
			if term == "" {
				continue
			}
			if afterTerm {
				r.w.gap = gapLine
			}
			r.w.want(gapBlank)
			if afterTerm {
				r.w.gap = gapLine
			}
			r.w.lines(term)
			afterTerm = true
		case atom.Dd:
			r.w.tighten()
			r.w.want(gapLine)
			marker := ": "
			if r.plain {
				marker = "  "
			}
			r.listItem(c, marker)
			r.w.want(gapBlank)
			afterTerm = false
		default:
			r.node(c)
			r.flush()
		}
	}
	r.w.want(gapBlank)
}

// entries are the terms and meanings of a list of definitions, which may be grouped.
func entries(dl *html.Node) func(func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		for c := dl.FirstChild; c != nil; c = c.NextSibling {
			if c.Type != html.ElementNode {
				continue
			}
			if c.DataAtom != atom.Div {
				if !yield(c) {
					return
				}
				continue
			}
			for g := c.FirstChild; g != nil; g = g.NextSibling {
				if g.Type == html.ElementNode && !yield(g) {
					return
				}
			}
		}
	}
}

// hasBlocks tells whether there are blocks inside of an inline element.
func (r *renderer) hasBlocks(n *html.Node) bool {
	if has, known := r.blocks[n]; known {
		return has
	}
	has := false
	for c := n.FirstChild; c != nil && !has; c = c.NextSibling {
		has = c.Type == html.ElementNode && (isBlock(c) || r.hasBlocks(c))
	}
	r.blocks[n] = has
	return has
}

func isHeading(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

func isBlock(n *html.Node) bool { return n.Type == html.ElementNode && isBlockAtom(n.DataAtom) }

func isBlockAtom(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd, atom.Details, atom.Dir, atom.Div, atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup,
		atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Optgroup, atom.P, atom.Plaintext, atom.Pre, atom.Search, atom.Section,
		atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Textarea, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Xmp, atom.Frameset, atom.Noframes:
		return true
	}
	return false
}
