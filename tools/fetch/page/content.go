package page

import (
	"strings"
	"unicode"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// How much of a page's own text its main content must have, in per cent, by who says
// that it is: the page, or a guess.
const (
	enoughMarked  = 50
	enoughGuessed = 70
	nearlyAll     = 98 // there is nothing around it to be taken away
)

// maxGuessed is the number of elements above which the main content is not guessed:
// that takes time, and such a page is no article.
const maxGuessed = 20_000

// maxDeepText bounds the letters of a page times how deep they stand, for the same reason.
const maxDeepText = 20 << 20

// main is the part of the page that is its content, or all of it where that would
// lose most of the page: an index, a forum's thread, search results.
func (d *document) main() (*html.Node, string) {
	body := d.body
	if body == nil {
		body = d.root
	}
	own := weigh(body)
	if own.text == 0 {
		return body, WholePage
	}
	for _, is := range []func(*html.Node) bool{isMain, isArticle} {
		marked := topmost(body, is, nil)
		if len(marked) == 1 && weigh(marked[0]).holds(own, enoughMarked) {
			dropNavigation(marked[0])
			return marked[0], MainContent
		}
	}
	if n := d.guess(body, own); n != nil && n != body {
		return n, MainContent
	}
	if own.text >= enoughWithout {
		dropAround(body)
	}
	return body, WholePage
}

// enoughWithout is how many letters a page must have beside its navigation for that to
// be taken away: of an index it is the content.
const enoughWithout = 200

// dropAround takes out what stands around the content of a page, and says so by what it is.
func dropAround(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		role := attr(c, "role")
		switch {
		case c.Type != html.ElementNode:
		case c.DataAtom == atom.Nav, role == "navigation", role == "contentinfo", c.DataAtom == atom.Footer && n.DataAtom == atom.Body:
			n.RemoveChild(c)
		default:
			dropAround(c)
		}
		c = next
	}
}

// guess finds the main content of a page that does not mark it. Nothing that a guess
// loses but text may be lost: code, tables and headings are what readers come for.
func (d *document) guess(body *html.Node, own weight) *html.Node {
	if own.elements > maxGuessed || own.deep > maxDeepText {
		return nil
	}
	p := readability.NewParser()
	p.KeepClasses = true // the languages of code are among them
	article, err := p.ParseDocument(d.root, d.base)
	if err != nil || article.Node == nil {
		return nil
	}
	got := weigh(article.Node)
	if !got.holds(own, enoughGuessed) || got.holds(own, nearlyAll) || got.code < own.code || got.tables < own.tables || got.headings+1 < own.headings || got.pictures < own.pictures {
		return nil
	}
	return container(body, got.text)
}

// container is the narrowest part of the page that has what was found. What the
// search made of it is not used: it has lost headings, classes and divisions.
func container(n *html.Node, text int) *html.Node {
	for {
		var inside *html.Node
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode && isBlock(c) && weigh(c).text*100 >= text*nearlyAll {
				inside = c
				break
			}
		}
		if inside == nil || weigh(inside).titles < weigh(n).titles {
			return n
		}
		n = inside
	}
}

func isMain(n *html.Node) bool    { return n.DataAtom == atom.Main || attr(n, "role") == "main" }
func isArticle(n *html.Node) bool { return n.DataAtom == atom.Article || attr(n, "role") == "article" }

// topmost gathers the elements below n that are so, and not inside another of them.
func topmost(n *html.Node, is func(*html.Node) bool, found []*html.Node) []*html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type != html.ElementNode:
		case is(c):
			found = append(found, c)
		default:
			found = topmost(c, is, found)
		}
	}
	return found
}

// A weight is what there is in a part of a page, without its navigation.
type weight struct {
	text                             int // letters
	elements, code, tables, headings int
	titles                           int // headings of the first level
	pictures                         int
	deep                             int // letters times how deep they stand
}

// holds tells whether w has so many per cent of the text of all.
func (w weight) holds(all weight, percent int) bool { return w.text*100 >= all.text*percent }

func weigh(n *html.Node) weight {
	var w weight
	w.add(n, 0)
	return w
}

func (w *weight) add(n *html.Node, depth int) {
	switch n.Type {
	case html.TextNode:
		for _, r := range n.Data {
			if !unicode.IsSpace(r) {
				w.text++
				w.deep += depth
			}
		}
		return
	case html.ElementNode:
		if isNavigation(n) {
			return
		}
		w.elements++
		switch n.DataAtom {
		case atom.Pre:
			w.code++
		case atom.Table:
			w.tables++
		case atom.H1:
			w.titles++
			w.headings++
		case atom.H2, atom.H3, atom.H4:
			w.headings++
		case atom.Figure:
			w.pictures++
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.add(c, depth+1)
	}
}

// isNavigation: the parts around the content of a page.
func isNavigation(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Footer:
		return true
	case atom.Header, atom.Aside:
		return n.Parent != nil && n.Parent.DataAtom == atom.Body || attr(n, "role") == "banner" || attr(n, "role") == "complementary"
	}
	switch attr(n, "role") {
	case "navigation", "banner", "contentinfo", "complementary", "search":
		return true
	}
	return false
}

// dropNavigation takes out what leads elsewhere from inside the content: crumbs, the
// page's table of contents, "next" and "previous".
func dropNavigation(n *html.Node) { dropLinks(n, false) }

// dropLinks does so; aside: n is in an aside that stays, and so do those in it.
func dropLinks(n *html.Node, aside bool) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		isAside := c.Type == html.ElementNode && c.DataAtom == atom.Aside
		if c.Type == html.ElementNode && (c.DataAtom == atom.Nav || attr(c, "role") == "navigation" || isAside && !aside && isLinks(c)) {
			n.RemoveChild(c)
		} else {
			dropLinks(c, aside || isAside)
		}
		c = next
	}
}

// isLinks tells whether most of what is in a part leads elsewhere.
func isLinks(n *html.Node) bool {
	linked, all := 0, 0
	var walk func(n *html.Node, in bool)
	walk = func(n *html.Node, in bool) {
		if n.Type == html.TextNode {
			letters := len(strings.Join(strings.Fields(n.Data), ""))
			if all += letters; in {
				linked += letters
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, in || c.DataAtom == atom.A)
		}
	}
	walk(n, false)
	return linked*100 >= all*60
}
