package page

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// FromXHTML writes elements that XHTML closes in themselves (<div/>) as HTML knows
// them: it would take them for open.
func FromXHTML(source []byte) []byte {
	if !bytes.Contains(source, []byte("/>")) {
		return source
	}
	z := html.NewTokenizer(bytes.NewReader(source))
	z.SetMaxBuf(len(source) + 1)
	out := make([]byte, 0, len(source)+len(source)/16)
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return append(out, z.Raw()...)
		}
		raw := z.Raw()
		if kind != html.SelfClosingTagToken {
			out = append(out, raw...)
			continue
		}
		name, _ := z.TagName()
		if isVoid(atom.Lookup(name)) {
			out = append(out, raw...)
			continue
		}
		z.NextIsNotRawText()
		out = append(append(out, bytes.TrimSuffix(raw, []byte("/>"))...), '>')
		out = append(append(append(out, "</"...), name...), '>')
	}
}

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
