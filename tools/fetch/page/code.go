package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// code writes a block of code: its text byte by byte, between fences that are longer
// than any in it.
func (r *renderer) code(n *html.Node) {
	text := strings.TrimRight(codeText(n), " \t\n")
	if blank := leadingBlankLines(text); blank > 0 {
		text = text[blank:]
	}
	if text == "" {
		return
	}
	if r.plain {
		r.w.block(text)
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	r.w.want(gapBlank)
	r.w.lines(fence + languageOf(n))
	r.w.lines(text)
	r.w.lines(fence)
	r.w.want(gapBlank)
	r.linksOf(n)
}

// maxCodeLinks is how many links of a text in a pre are listed.
const maxCodeLinks = 300

// linksOf lists the links in preformatted text that is no code: a directory's index,
// a manual page. A fence has no place for them.
func (r *renderer) linksOf(pre *html.Node) {
	if pre.DataAtom != atom.Pre || languageOf(pre) != "" || onlyCode(pre) != nil || strings.Contains(classOf(pre), "code") || holdsSpans(pre) {
		return
	}
	var found []string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil && len(found) <= maxCodeLinks; c = c.NextSibling {
			if c.DataAtom == atom.A {
				var in inline
				r.anchor(&in, c)
				if s := in.take(); strings.HasPrefix(s, "[") || strings.HasPrefix(s, "<") {
					found = append(found, s)
				}
				continue
			}
			walk(c)
		}
	}
	walk(pre)
	if len(found) > maxCodeLinks {
		found = append(found[:maxCodeLinks], "…")
	}
	if len(found) > 0 {
		r.w.block("Links: " + strings.Join(found, " · "))
	}
}

// holdsSpans: highlighted code, whose links lead to what its words mean.
func holdsSpans(pre *html.Node) bool {
	spans := 0
	for c := pre.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Span && classOf(c) != "" {
			spans++
		}
	}
	return spans > 3
}

// leadingBlankLines is the length of the lines at the beginning that hold nothing.
func leadingBlankLines(s string) int {
	n := 0
	for {
		i := strings.IndexByte(s[n:], '\n')
		if i < 0 || strings.TrimSpace(s[n:n+i]) != "" {
			return n
		}
		n += i + 1
	}
}

// codeText is the text of code without the numbers of its lines. An element that
// takes a line of its own ends with a line break.
func codeText(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(strings.ReplaceAll(n.Data, "\u00a0", " "))
			return
		case n.Type == html.ElementNode && (n.DataAtom == atom.Br || n.DataAtom == atom.Hr):
			b.WriteByte('\n')
			return
		case n.Type == html.ElementNode && isGutter(n):
			return
		}
		if n.Type == html.ElementNode && n.DataAtom == atom.Div && b.Len() > 0 && !strings.HasSuffix(b.String()[b.Len()-1:], "\n") && strings.TrimSpace(textOf(n, 100)) != "" {
			b.WriteByte('\n')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if isCodeLine(n) && b.Len() > 0 && !strings.HasSuffix(b.String()[max(0, b.Len()-1):], "\n") {
			b.WriteByte('\n')
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c)
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

func isCodeLine(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Li, atom.P, atom.Tr:
		return true
	}
	return false
}

// isGutter: the numbers beside lines of code, and buttons to copy it.
func isGutter(n *html.Node) bool {
	if hasAttr(n, "data-line-number") && textOf(n, 1) == "" {
		return true
	}
	for class := range strings.FieldsSeq(classOf(n)) {
		switch class {
		case "lineno", "linenos", "linenodiv", "line-numbers", "line-numbers-rows", "line-number", "lineNumbers", "lineNumber", "gutter", "rouge-gutter", "gl", "lnt", "ln", "blob-num", "copybtn", "copy-button", "hljs-ln-numbers":
			return true
		}
	}
	return n.DataAtom == atom.Button
}

var languageClass = regexp.MustCompile(`^(?:language|lang|highlight-source|highlight|hl|brush:?|sourceCode)-?:?([A-Za-z][A-Za-z0-9_+#.-]*)$`)

// languageOf is the language that the classes around a block of code name.
func languageOf(pre *html.Node) string {
	for _, n := range []*html.Node{onlyCode(pre), pre, pre.Parent, grand(pre)} {
		if n == nil || n.Type != html.ElementNode {
			continue
		}
		for _, key := range []string{"data-lang", "data-language", "lang-name"} {
			if s := brief(attr(n, key)); s != "" && languageClass.MatchString("lang-"+s) {
				return plainLanguage(s)
			}
		}
		if _, s, ok := strings.Cut(brief(attr(n, "data-syntaxhighlighter-params")), "brush:"); ok {
			s, _, _ = strings.Cut(s, ";")
			return plainLanguage(strings.TrimSpace(s))
		}
		if s := languageOfClass(classOf(n)); s != "" {
			return s
		}
		if s := attr(n, "lang"); n.DataAtom == atom.Pre && bareLanguages[s] {
			return s
		}
	}
	return ""
}

func languageOfClass(classes string) string {
	fields := strings.Fields(classes)
	for i, class := range fields {
		if (class == "brush:" || class == "hljs" || class == "sourceCode" || class == "prettyprint") && i+1 < len(fields) && languageClass.MatchString("lang-"+fields[i+1]) {
			if known := plainLanguage(strings.TrimPrefix(strings.TrimPrefix(fields[i+1], "lang-"), "language-")); known != "" {
				return strings.TrimRight(known, ";")
			}
		}
		if bareLanguages[class] {
			return class
		}
		if m := languageClass.FindStringSubmatch(class); m != nil {
			if s := plainLanguage(m[1]); s != "" {
				return s
			}
		}
	}
	return ""
}

// bareLanguages are names of languages that stand alone as a class.
var bareLanguages = map[string]bool{"rust": true, "go": true, "python": true, "javascript": true, "typescript": true, "java": true, "ruby": true, "bash": true,
	"shell": true, "json": true, "yaml": true, "toml": true, "sql": true, "cpp": true, "csharp": true, "php": true, "kotlin": true, "swift": true, "scala": true,
	"haskell": true, "perl": true, "lua": true, "elixir": true, "erlang": true, "xml": true, "css": true, "scss": true, "diff": true, "dockerfile": true, "makefile": true}

// plainLanguage is a name of a language, "" of what is none.
func plainLanguage(s string) string {
	if len(s) > 40 {
		return ""
	}
	switch s = strings.ToLower(s); s {
	case "none", "text", "plaintext", "plain", "default", "notranslate", "highlight", "code", "nohighlight", "block", "wrapper", "output", "copy", "source", "body", "content", "container", "rouge", "syntax", "example":
		return ""
	case "python3", "ipython3", "pycon3":
		return "python"
	}
	return s
}

func onlyCode(pre *html.Node) *html.Node {
	for c := pre.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && c.DataAtom == atom.Code {
			return c
		}
	}
	return nil
}

func grand(n *html.Node) *html.Node {
	if n.Parent == nil {
		return nil
	}
	return n.Parent.Parent
}
