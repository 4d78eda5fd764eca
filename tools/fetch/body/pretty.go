package body

import (
	"encoding/xml"
	"io"
	"strings"
)

// A piece is a part of an XML document, as it stands there: an element, a comment, a
// declaration.
type piece struct {
	start, open int // where it begins, and where its start tag ends
	inner, end  int // where its end tag begins, and where it ends
	name        string
	parts       []*piece
	mixed       bool // there is text in it
}

// Pretty writes an XML document with a line for each element. An element with text in
// it stays as it is. What is no XML, or beyond the limits, comes back as it was.
func Pretty(text string) string {
	root, ok := pieces(text)
	if !ok || root.mixed || len(root.parts) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	for _, p := range root.parts {
		p.write(&b, text, 0)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (p *piece) write(b *strings.Builder, text string, depth int) {
	indent(b, depth)
	if p.mixed || len(p.parts) == 0 {
		b.WriteString(strings.TrimSpace(text[p.start:p.end]))
		b.WriteByte('\n')
		return
	}
	b.WriteString(text[p.start:p.open])
	b.WriteByte('\n')
	for _, part := range p.parts {
		part.write(b, text, depth+1)
	}
	indent(b, depth)
	b.WriteString(text[p.inner:p.end])
	b.WriteByte('\n')
}

func indent(b *strings.Builder, depth int) {
	for range depth {
		b.WriteString("  ")
	}
}

// pieces takes a document apart without changing anything in it.
func pieces(text string) (root *piece, ok bool) {
	if strings.Count(text, "=") > maxAttributes {
		return nil, false
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	root = &piece{}
	open := []*piece{root}
	count, at := 0, 0
	for {
		token, err := d.RawToken()
		start := at
		at = int(d.InputOffset())
		if err != nil {
			return root, err == io.EOF && len(open) == 1
		}
		top := open[len(open)-1]
		if count++; count > maxElements || len(open) > maxDepth {
			return nil, false
		}
		switch token := token.(type) {
		case xml.StartElement:
			p := &piece{start: start, open: at, end: at, name: token.Name.Space + ":" + token.Name.Local}
			top.parts = append(top.parts, p)
			open = append(open, p)
		case xml.EndElement:
			if len(open) == 1 || token.Name.Space+":"+token.Name.Local != top.name {
				return nil, false
			}
			top.inner, top.end = start, at
			open = open[:len(open)-1]
		case xml.CharData:
			top.mixed = top.mixed || strings.TrimSpace(text[start:at]) != ""
		default:
			top.parts = append(top.parts, &piece{start: start, open: at, inner: at, end: at})
		}
	}
}
