// Package page turns a web page into what a careful person would write down of it
// for someone who reads plain text: Markdown, text, or clean HTML. It is pure.
package page

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A Format is what a page is turned into.
type Format int

// The formats of a page.
const (
	Markdown Format = iota
	Text
	HTML
)

// A Page is what was made of a page.
type Page struct {
	Title string
	Text  string
	// Part says what of the page Text is.
	Part string
	// Notes say, in words, what the reader would not expect.
	Notes []string
}

// The parts of a page.
const (
	MainContent = "main content"
	WholePage   = "whole page"
)

// Read reads a page in UTF-8 that came from base. What is hidden, scripts and styles
// are left out; links are absolute. A page that is only a shell for scripts says so
// in its notes, and its text is the data it carries. However the page is made, Read
// takes time and memory in proportion to its size.
func Read(source []byte, base *url.URL, format Format) Page {
	source, cut := beginning(source)
	page := read(source, base, format)
	if cut != "" {
		page.Notes = append(page.Notes, cut)
	}
	return page
}

// maxTags bounds how many elements a page may have: each takes some hundred bytes of
// memory, however short it is in the page.
const maxTags = 300_000

// beginning is the part of a page that is taken apart, and what to say if it is not all.
func beginning(source []byte) (part []byte, note string) {
	if bytes.Count(source, []byte("<")) <= maxTags {
		return source, ""
	}
	at := 0
	for range maxTags {
		at += 1 + bytes.IndexByte(source[at:], '<')
	}
	return source[:at-1], fmt.Sprintf("the page has more than %d elements: only its beginning is here, %d of %d KB", maxTags, at>>10, len(source)>>10)
}

func read(source []byte, base *url.URL, format Format) Page {
	if multiplies(source) {
		return bareText(source, "the page leaves too many elements open to be taken apart")
	}
	doc, err := html.Parse(bytes.NewReader(source))
	if err != nil { // nested more deeply than any page is
		return bareText(source, "the page is nested too deeply to be taken apart")
	}
	d := &document{root: doc, base: base, metas: make(map[string]string)}
	d.survey(doc)
	data := d.embedded()
	page := Page{Title: d.title()}
	d.clean()
	main, part := d.main()
	page.Part = part
	page.Text = d.render(main, format)
	if d.isShell(main) {
		page.Part = WholePage
		page.Notes = append(page.Notes, "this page is made by scripts, which are not run here: there is little or no text in it"+data.note())
		page.Text = strings.TrimSpace(page.Text + "\n\n" + data.text())
	}
	if to := d.sentOn(); to != "" {
		page.Notes = append(page.Notes, "the page sends a browser on to "+to)
	}
	page.Title = Visible(page.Title)
	page.Text = Visible(page.Text)
	return page
}

func bareText(source []byte, why string) Page {
	p := flat(source)
	p.Notes = append(p.Notes, why+": this is its bare text")
	return p
}

// A document is a page that is being read, and what a first look found in it.
type document struct {
	root     *html.Node
	base     *url.URL
	based    bool // the page has a base of its own
	body     *html.Node
	titles   []string // of the page and of pictures in it
	heading  *html.Node
	metas    map[string]string // by name or property; the first of each
	refresh  string            // where the page sends a browser on to
	scripts  []*html.Node
	noscript []*html.Node    // taken out of the page
	hiders   map[string]bool // classes (.x) and ids (#x) that the page's style sheets hide
	tex      bool            // a script of it draws formulas
}

// survey looks once at all elements.
func (d *document) survey(n *html.Node) {
	if n.Type == html.ElementNode {
		d.note(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		d.survey(c)
	}
}

func (d *document) note(n *html.Node) {
	switch n.DataAtom {
	case atom.Body:
		d.body = n
	case atom.Title:
		if len(d.titles) == 0 {
			d.titles = append(d.titles, textOf(n, 4*maxTitle))
		}
	case atom.H1:
		if d.heading == nil {
			d.heading = n
		}
	case atom.Meta:
		if strings.EqualFold(attr(n, "http-equiv"), "refresh") {
			d.refresh = attr(n, "content")
		}
		name := attr(n, "property")
		if name == "" {
			name = attr(n, "name")
		}
		if _, known := d.metas[name]; !known && name != "" {
			d.metas[name] = strings.TrimSpace(attr(n, "content"))
		}
	case atom.Base:
		d.rebase(attr(n, "href"))
	case atom.Style:
		d.readSheet(n)
	case atom.Script:
		d.scripts = append(d.scripts, n)
		src := strings.ToLower(attr(n, "src"))
		d.tex = d.tex || strings.Contains(src, "mathjax") || strings.Contains(src, "katex") || strings.Contains(textOf(n, 200), "MathJax")
	}
}

// maxBase bounds the length of a base in bytes: all links of the page get longer by it.
const maxBase = 500

// rebase takes the page's own base for its links: the first it names.
func (d *document) rebase(href string) {
	if href == "" || len(href) > maxBase || d.base == nil || d.based {
		return
	}
	if u, err := d.base.Parse(strings.TrimSpace(href)); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		d.base, d.based = u, true
	}
}

// sentOn is where the page sends a browser on to, "" if nowhere: "5; url=next.html".
func (d *document) sentOn() string {
	_, to, ok := strings.Cut(d.refresh, ";")
	if !ok {
		return ""
	}
	name, to, ok := strings.Cut(strings.TrimSpace(to), "=")
	if !ok || !strings.EqualFold(strings.TrimSpace(name), "url") {
		return ""
	}
	return ascii(clip(absolute(d.base, strings.Trim(strings.TrimSpace(to), `"'`)), maxSentOn))
}

// maxSentOn is how much of such an address is shown, in characters.
const maxSentOn = 300

// ascii writes all but ASCII as percent escapes, and blanks too: it stands outside the
// marks around what the page says.
func ascii(link string) string {
	var b strings.Builder
	for i := range len(link) {
		if c := link[i]; c > ' ' && c < 0x7f {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// title is the page's title: its own, or what it tells others.
func (d *document) title() string {
	candidates := append(d.titles, d.metas["og:title"])
	if d.heading != nil {
		candidates = append(candidates, textOf(d.heading, 4*maxTitle))
	}
	for _, s := range candidates {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			return clip(s, maxTitle)
		}
	}
	return ""
}

const maxTitle = 300

func (d *document) render(n *html.Node, format Format) string {
	switch format {
	case HTML:
		return d.renderHTML(n)
	case Text:
		return renderMarkdown(n, style{base: d.base, plain: true, tex: d.tex})
	}
	return renderMarkdown(n, style{base: d.base, tex: d.tex})
}

// clip shortens s to n characters.
func clip(s string, n int) string {
	i := 0
	for at := range s {
		if i++; i > n {
			return s[:at] + "…"
		}
	}
	return s
}
