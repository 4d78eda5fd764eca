package page

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// clean takes out of the document what a reader does not see.
func (d *document) clean() {
	d.cleanBelow(d.root)
	if len(strings.Fields(textOf(d.root, 1000))) == 0 { // the page has nothing else to say
		d.putNoscriptBack()
	}
}

func (d *document) cleanBelow(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if d.isUnseen(c) {
			n.RemoveChild(c)
		} else {
			d.cleanBelow(c)
		}
		c = next
	}
}

// isUnseen tells whether a node shows nothing to a reader.
func (d *document) isUnseen(n *html.Node) bool {
	switch n.Type {
	case html.CommentNode, html.DoctypeNode:
		return true
	case html.ElementNode:
	default:
		return false
	}
	switch n.DataAtom {
	case atom.Script:
		return !isMath(n)
	case atom.Style, atom.Link, atom.Meta, atom.Base, atom.Title, atom.Svg, atom.Canvas, atom.Map, atom.Datalist, atom.Select, atom.Progress, atom.Meter:
		return true
	case atom.Textarea: // what a visitor is to fill in, unless it shows code
		return !isCodeArea(n)
	case atom.Template: // what is in a shadow root is seen
		return !hasAttr(n, "shadowrootmode")
	case atom.Dialog:
		return !hasAttr(n, "open")
	case atom.Noscript:
		d.noscript = append(d.noscript, n)
		return true
	case atom.Button:
		return len(textOf(n, 60)) < 60 // a label; whole cards are buttons now and then
	case atom.Input:
		return attr(n, "type") != "checkbox"
	case atom.Math, atom.Code, atom.Pre:
		return d.isHidden(n)
	}
	return d.isHidden(n)
}

// isMath: TeX that a script would draw.
func isMath(n *html.Node) bool { return strings.HasPrefix(attr(n, "type"), "math/tex") }

// isCodeArea: an example to be run, as some pages of documentation have them.
func isCodeArea(n *html.Node) bool {
	return strings.Contains(strings.ToLower(classOf(n)), "code") || hasAttr(n, "readonly")
}

func isPicture(n *html.Node) bool {
	return n.DataAtom == atom.Img || n.DataAtom == atom.Picture || n.DataAtom == atom.Figure
}

// putNoscriptBack gives a page without any other text what it says to those who run
// no scripts.
func (d *document) putNoscriptBack() {
	if d.body == nil {
		return
	}
	for _, n := range d.noscript {
		// The parser takes the content for text, as a browser with scripts does.
		parts, err := html.ParseFragment(strings.NewReader(textOf(n, maxNoscript)), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
		if err != nil {
			continue
		}
		div := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
		for _, part := range parts {
			div.AppendChild(part)
		}
		inner := &document{root: div}
		inner.cleanBelow(div)
		d.body.AppendChild(div)
	}
}

const maxNoscript = 64 << 10

// attr is the value of an attribute, "" if there is none.
func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// maxClasses is how many bytes of an element's classes are looked at: some are looked at
// once for each element inside.
const maxClasses = 1 << 10

// classOf are the classes of an element.
func classOf(n *html.Node) string { return brief(attr(n, "class")) }

func brief(s string) string { return s[:min(len(s), maxClasses)] }

func hasAttr(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// textOf is the text below n, up to about max bytes of it; 0: all.
func textOf(n *html.Node, max int) string {
	var b strings.Builder
	var walk func(n *html.Node) bool
	walk = func(n *html.Node) bool {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
			if max > 0 && b.Len() >= max {
				return false
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if !walk(c) {
				return false
			}
		}
		return true
	}
	walk(n)
	return b.String()
}

// absolute is a link as it stands, seen from base; "" where it leads nowhere that
// can be fetched or written to.
func absolute(base *url.URL, href string) string {
	href = strings.TrimSpace(href)
	if href == "" || len(href) > maxLink {
		return ""
	}
	u, err := url.Parse(strings.Map(dropBreaks, href))
	if err != nil {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "mailto", "tel", "ftp", "magnet", "irc", "ircs", "xmpp", "news", "geo", "git", "ssh":
	case "":
	default:
		return ""
	}
	link := linkEscaper.Replace(u.String())
	if !balanced(link) {
		link = parenEscaper.Replace(link)
	}
	return link
}

// balanced: every parenthesis has its other half, so that a link may have them.
func balanced(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// maxLink bounds the length of a link in bytes.
const maxLink = 4 << 10

// dropBreaks: a URL has no line breaks or tabs, wherever they stand in a page.
func dropBreaks(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// linkEscaper writes what would end a link in Markdown.
var linkEscaper = strings.NewReplacer(" ", "%20", "<", "%3C", ">", "%3E", "\"", "%22", "|", "%7C")

var parenEscaper = strings.NewReplacer("(", "%28", ")", "%29")
