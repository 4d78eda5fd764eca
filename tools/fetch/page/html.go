package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// keptAttributes say something to a reader; all others are for looks and scripts.
var keptAttributes = map[string]bool{
	"href": true, "src": true, "alt": true, "title": true, "lang": true, "dir": true, "colspan": true, "rowspan": true, "scope": true,
	"start": true, "value": true, "datetime": true, "cite": true, "open": true, "id": true, "name": true, "headers": true, "checked": true, "type": true,
}

// renderHTML is what is left of the page as HTML, with absolute links.
func (d *document) renderHTML(n *html.Node) string {
	d.cleanAttributes(n)
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := html.Render(&b, c); err != nil { // of a tree that no parser makes
			return textOf(n, 0)
		}
	}
	return tidyBlank(b.String())
}

func (d *document) cleanAttributes(n *html.Node) {
	if n.Type == html.ElementNode {
		kept := n.Attr[:0]
		for _, a := range n.Attr {
			if a.Key == "class" && (n.DataAtom == atom.Code || n.DataAtom == atom.Pre) {
				kept = append(kept, a)
			}
			if !keptAttributes[a.Key] || a.Namespace != "" {
				continue
			}
			if a.Key == "href" || a.Key == "src" || a.Key == "cite" {
				if a.Val = absolute(d.base, a.Val); a.Val == "" || strings.HasPrefix(a.Val, "data:") {
					continue
				}
			}
			kept = append(kept, a)
		}
		n.Attr = kept
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		d.cleanAttributes(c)
	}
}

// tidyBlank takes out lines that hold nothing, of which taken out elements leave many.
func tidyBlank(s string) string {
	var b strings.Builder
	blank := false
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if strings.TrimSpace(line) == "" {
			blank = true
			continue
		}
		if blank {
			b.WriteByte('\n')
			blank = false
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
