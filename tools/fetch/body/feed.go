package body

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"mcp-tools/tools/fetch/page"
)

// Limits of a feed that is written down.
const (
	maxItems   = 500
	maxSummary = 600 // characters
)

// A feed is a list of what a site has, or had lately.
type feed struct {
	title, about, link string
	items              []item
}

type item struct{ title, link, date, by, summary string }

// Feed writes an RSS, Atom or JSON feed, a sitemap or an OPML list down as a list;
// false if text is none.
func Feed(text string, kind Kind, base *url.URL) (string, bool) {
	var f *feed
	switch kind {
	case JSON:
		f = jsonFeed(text)
	case XML, HTML:
		root := parse(text)
		if root == nil {
			return "", false
		}
		if b, ok := root.attrs["base"]; ok {
			base = baseOf(base, b)
		}
		f = xmlFeed(root)
	}
	if f == nil {
		return "", false
	}
	return f.write(base), true
}

func baseOf(base *url.URL, ref string) *url.URL {
	if base == nil {
		return nil
	}
	if u, err := base.Parse(ref); err == nil {
		return u
	}
	return base
}

func xmlFeed(root *element) *feed {
	switch root.name {
	case "rss":
		channel := root.first("channel")
		if channel == nil {
			return nil
		}
		return channelFeed(channel, channel.children)
	case "rdf":
		return channelFeed(root.first("channel"), root.children)
	case "feed":
		return atomFeed(root)
	case "urlset", "sitemapindex":
		return sitemap(root)
	case "opml":
		return outline(root)
	}
	return nil
}

// channelFeed is RSS in all its versions: RSS 1.0 has its items beside the channel.
func channelFeed(channel *element, items []*element) *feed {
	f := &feed{title: channel.value("title"), about: channel.value("description"), link: linkOf(channel)}
	for _, e := range items {
		if e.name != "item" {
			continue
		}
		f.items = append(f.items, item{
			title:   e.value("title"),
			link:    linkOf(e),
			date:    e.value("pubdate", "date", "published"),
			by:      e.value("creator", "author"),
			summary: e.value("description", "summary", "encoded", "content"),
		})
	}
	return f
}

// linkOf is where an item leads: its link as text, as an attribute, or its id.
func linkOf(e *element) string {
	if e == nil {
		return ""
	}
	other := ""
	for _, c := range e.children {
		if c.name != "link" {
			continue
		}
		if s := strings.TrimSpace(c.text); s != "" {
			return s
		}
		if href := c.attrs["href"]; href != "" && (c.attrs["rel"] == "" || c.attrs["rel"] == "alternate") {
			return href
		} else if other == "" && c.attrs["rel"] != "self" {
			other = href
		}
	}
	if id := e.value("guid", "id"); other == "" && strings.HasPrefix(id, "http") {
		return id
	}
	return other
}

func atomFeed(root *element) *feed {
	f := &feed{title: root.value("title"), about: root.value("subtitle"), link: linkOf(root)}
	for _, e := range root.children {
		if e.name != "entry" {
			continue
		}
		f.items = append(f.items, item{
			title:   e.value("title"),
			link:    linkOf(e),
			date:    e.value("published", "updated"),
			by:      e.first("author").value("name"),
			summary: e.value("summary", "content"),
		})
	}
	return f
}

func sitemap(root *element) *feed {
	f := &feed{title: "Sitemap"}
	if root.name == "sitemapindex" {
		f.title = "Index of sitemaps"
	}
	for _, e := range root.children {
		if loc := e.value("loc"); loc != "" {
			f.items = append(f.items, item{link: loc, date: e.value("lastmod")})
		}
	}
	return f
}

func outline(root *element) *feed {
	f := &feed{title: root.first("head").value("title")}
	var walk func(e *element, under string)
	walk = func(e *element, under string) {
		for _, c := range e.children {
			if c.name != "outline" {
				continue
			}
			name := c.attrs["title"]
			if name == "" {
				name = c.attrs["text"]
			}
			link := c.attrs["xmlurl"]
			if link == "" {
				link = c.attrs["htmlurl"]
			}
			if link != "" || len(c.children) == 0 {
				f.items = append(f.items, item{title: name, link: link, by: under})
			}
			walk(c, name)
		}
	}
	if body := root.first("body"); body != nil {
		walk(body, "")
	}
	return f
}

// jsonFeed reads a feed of jsonfeed.org.
func jsonFeed(text string) *feed {
	var j struct {
		Version     string `json:"version"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Home        string `json:"home_page_url"`
		Items       []struct {
			Title    string `json:"title"`
			URL      string `json:"url"`
			Date     string `json:"date_published"`
			Summary  string `json:"summary"`
			Text     string `json:"content_text"`
			HTML     string `json:"content_html"`
			External string `json:"external_url"`
			Authors  []struct {
				Name string `json:"name"`
			} `json:"authors"`
		} `json:"items"`
	}
	if !strings.Contains(text[:min(len(text), 4096)], "jsonfeed.org/version/") || json.Unmarshal([]byte(text), &j) != nil || !strings.Contains(j.Version, "jsonfeed.org/version/") {
		return nil
	}
	f := &feed{title: j.Title, about: j.Description, link: j.Home}
	for _, i := range j.Items {
		it := item{title: i.Title, link: i.URL, date: i.Date, summary: firstOf(i.Summary, i.Text, i.HTML)}
		if it.link == "" {
			it.link = i.External
		}
		if len(i.Authors) > 0 {
			it.by = i.Authors[0].Name
		}
		f.items = append(f.items, it)
	}
	return f
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

func (f *feed) write(base *url.URL) string {
	var b strings.Builder
	if title := plain(f.title, base); title != "" {
		b.WriteString("# " + title + "\n\n")
	}
	if about := plain(f.about, base); about != "" && about != f.title {
		b.WriteString(about + "\n\n")
	}
	if f.link != "" {
		b.WriteString("<" + resolved(base, f.link) + ">\n\n")
	}
	for i, it := range f.items {
		if i == maxItems {
			fmt.Fprintf(&b, "\n… and %d more\n", len(f.items)-i)
			break
		}
		b.WriteString(it.write(base))
	}
	if len(f.items) == 0 {
		b.WriteString("(no entries)\n")
	}
	return strings.TrimSpace(b.String())
}

func (it item) write(base *url.URL) string {
	title, link := plain(it.title, base), resolved(base, it.link)
	line := "- "
	switch {
	case title != "" && link != "":
		line += "[" + strings.NewReplacer("[", "\\[", "]", "\\]").Replace(title) + "](" + link + ")"
	case link != "":
		line += "<" + link + ">"
	case title != "":
		line += title
	default:
		line += "(no title)"
	}
	var facts []string
	for _, s := range []string{it.date, plain(it.by, base)} {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			facts = append(facts, s)
		}
	}
	if len(facts) > 0 {
		line += " (" + strings.Join(facts, ", ") + ")"
	}
	line += "\n"
	if s := plain(it.summary, base); s != "" && s != title {
		line += "  " + s + "\n"
	}
	return line
}

// maxPlain is how many bytes of a text of a feed are looked at: little of it is shown.
const maxPlain = 8 << 10

// plain is a text of a feed, which may be HTML, in one line.
func plain(s string, base *url.URL) string {
	if len(s) > maxPlain {
		s = strings.ToValidUTF8(s[:maxPlain], "")
	}
	if strings.ContainsAny(s, "<&") {
		s = page.Read([]byte(s), base, page.Text).Text
	}
	s = strings.Join(strings.Fields(page.Visible(s)), " ")
	n := 0
	for at := range s {
		if n++; n > maxSummary {
			return s[:at] + " …"
		}
	}
	return s
}
