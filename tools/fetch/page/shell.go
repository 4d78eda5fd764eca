package page

import (
	"encoding/json"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of the data that is shown of a page without text, in bytes.
const (
	maxData     = 20_000
	maxDataRead = 2 << 20
)

// minText is the number of letters below which a page with scripts is taken for a
// shell.
const minText = 200

// embedded is the data that a page carries for its scripts and for search engines.
type embedded struct {
	facts   []string // lines
	objects []string // of JSON, with what they are
}

// metaNames are what pages tell others about themselves.
var metaNames = []string{"description", "og:title", "og:description", "og:site_name", "og:type", "og:url", "og:image", "article:published_time", "author", "twitter:title", "twitter:description"}

// embedded gathers the data before the scripts are taken out.
func (d *document) embedded() embedded {
	var e embedded
	seen := map[string]bool{}
	for _, name := range metaNames {
		if s := strings.Join(strings.Fields(d.metas[name]), " "); s != "" && !seen[s] {
			seen[s] = true
			e.facts = append(e.facts, name+": "+clip(s, 1000))
		}
	}
	for _, n := range d.scripts {
		if isMath(n) {
			continue
		}
		e.addScript(n)
	}
	return e
}

var stateOf = regexp.MustCompile(`(?:window\.|self\.|globalThis\.)?(__[A-Z][A-Z_]*__|__[A-Za-z]+State__|initialState|__remixContext)\s*=\s*`)

func (e *embedded) addScript(n *html.Node) {
	kind := strings.ToLower(attr(n, "type"))
	name := attr(n, "id")
	text := ""
	switch {
	case strings.HasSuffix(kind, "json") && kind != "application/ld+json" || name == "__NEXT_DATA__":
		text = textOf(n, maxDataRead)
	case kind == "application/ld+json":
		text = textOf(n, maxDataRead)
		name = "JSON-LD"
	case kind == "" || strings.Contains(kind, "javascript"):
		s := textOf(n, maxDataRead)
		m := stateOf.FindStringSubmatchIndex(s)
		if m == nil {
			return
		}
		name, text = s[m[2]:m[3]], s[m[1]:]
	default:
		return
	}
	if name == "" {
		name = "JSON"
	}
	if s := firstJSON(text); s != "" {
		e.objects = append(e.objects, name+":\n\n```json\n"+s+"\n```")
	}
}

// firstJSON is the JSON that text begins with, indented and bounded; "" if it begins
// with none that says anything.
func firstJSON(text string) string {
	var raw json.RawMessage
	if err := json.NewDecoder(strings.NewReader(strings.TrimSpace(text))).Decode(&raw); err != nil || len(raw) < 3 || raw[0] != '{' && raw[0] != '[' {
		return ""
	}
	out, fits, err := IndentJSON(raw, " ")
	if !fits {
		out = raw
	}
	if err != nil || strings.Contains(string(out), "```") {
		return ""
	}
	if len(out) > maxData {
		return strings.ToValidUTF8(string(out[:maxData]), "") + "\n…"
	}
	return string(out)
}

func (e embedded) note() string {
	if len(e.facts)+len(e.objects) == 0 {
		return ". A browser would be needed to see it"
	}
	return "; what it carries as data follows"
}

func (e embedded) text() string {
	var parts []string
	if len(e.facts) > 0 {
		parts = append(parts, strings.Join(e.facts, "\n"))
	}
	return strings.Join(append(parts, e.objects...), "\n\n")
}

// isShell tells whether the page is made by scripts, and nothing else is in it.
func (d *document) isShell(main *html.Node) bool {
	if len(d.scripts) == 0 {
		return false
	}
	text := weigh(d.root).text
	return text == 0 || text < minText && !hasContent(main) && hasMount(main)
}

// hasMount: an element that waits for scripts to fill it. It has a name to be found
// by, and no more in it than a word to wait with.
func hasMount(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if (c.DataAtom == atom.Div && attr(c, "id") != "" || strings.Contains(c.Data, "-")) && len(strings.TrimSpace(textOf(c, 60))) < 30 {
			return true
		}
		if hasMount(c) {
			return true
		}
	}
	return false
}

// hasContent: a list, a table, code or a heading is a page, however short.
func hasContent(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Pre, atom.Table, atom.H1, atom.H2, atom.H3, atom.Article:
			return true
		case atom.P, atom.Li:
			if len(strings.Fields(textOf(c, 1000))) > 12 {
				return true
			}
		}
		if hasContent(c) {
			return true
		}
	}
	return false
}
