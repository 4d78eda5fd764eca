package page

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// flat is the bare text of a page, found without building its tree.
func flat(source []byte) Page {
	z := html.NewTokenizer(bytes.NewReader(source))
	z.SetMaxBuf(len(source) + 1)
	page := Page{Part: WholePage}
	var b strings.Builder
	skip := atom.Atom(0) // the element that is being passed over
	inTitle := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			page.Text = Visible(tidyLines(b.String()))
			page.Title = Visible(clip(strings.Join(strings.Fields(page.Title), " "), maxTitle))
			return page
		case html.TextToken:
			if inTitle {
				page.Title += string(z.Text())
			} else if skip == 0 {
				b.WriteString(strings.Join(strings.Fields(string(z.Text())), " ") + " ")
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			inTitle = a == atom.Title && page.Title == ""
			if skip == 0 && isSilent(a) {
				skip = a
			}
			if isBlockAtom(a) || a == atom.Br {
				b.WriteByte('\n')
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			inTitle = false
			if a == skip {
				skip = 0
			}
			if isBlockAtom(a) {
				b.WriteByte('\n')
			}
		}
	}
}

// isSilent: elements whose content is no text.
func isSilent(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg:
		return true
	}
	return false
}

// tidyLines takes blanks off the ends of lines, and lines that hold nothing.
func tidyLines(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
