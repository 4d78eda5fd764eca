package body

import (
	"encoding/xml"
	"io"
	"net/url"
	"strings"
)

// An element of an XML document.
type element struct {
	name     string // without its name space, in lower case
	attrs    map[string]string
	text     string // all text in it, of the elements below too, up to maxElementText
	children []*element
	gathered []byte // text, while the element is open
}

// Limits of an XML document that is taken apart.
const (
	maxDepth       = 100
	maxElements    = 200_000
	maxElementText = 64 << 10 // bytes of text of one element
	maxAttributes  = 300_000  // about, in the whole document: each takes many times its length
)

// parse takes an XML document apart; nil if it is none, or beyond the limits.
// Entities of its own are not expanded, so that it cannot grow.
func parse(text string) *element {
	if strings.Count(text, "=") > maxAttributes {
		return nil
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	var root *element
	var open []*element
	count, elements := 0, 0
	for {
		token, err := d.Token()
		if err == io.EOF && len(open) == 0 {
			return root
		}
		if count++; err != nil || count > 4*maxElements {
			return nil
		}
		switch token := token.(type) {
		case xml.StartElement:
			if elements++; elements > maxElements || len(open) > maxDepth {
				return nil
			}
			e := &element{name: strings.ToLower(token.Name.Local)}
			for _, a := range token.Attr {
				if e.attrs == nil {
					e.attrs = make(map[string]string, len(token.Attr))
				}
				if _, twice := e.attrs[strings.ToLower(a.Name.Local)]; !twice {
					e.attrs[strings.ToLower(a.Name.Local)] = a.Value
				}
			}
			switch {
			case len(open) > 0:
				up := open[len(open)-1]
				up.children = append(up.children, e)
			case root == nil:
				root = e
			default:
				return nil
			}
			open = append(open, e)
		case xml.EndElement:
			if len(open) == 0 {
				return nil
			}
			e := open[len(open)-1]
			e.text, e.gathered = string(e.gathered), nil
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				e := open[len(open)-1]
				if len(e.gathered) < maxElementText {
					e.gathered = append(e.gathered, token...)
				}
			}
		}
	}
}

// first is the first child of one of the names, in the order of the names; nil if
// there is none.
func (e *element) first(names ...string) *element {
	if e == nil {
		return nil
	}
	for _, name := range names {
		for _, c := range e.children {
			if c.name == name {
				return c
			}
		}
	}
	return nil
}

// value is the text of the first child of one of the names that has any.
func (e *element) value(names ...string) string {
	if e == nil {
		return ""
	}
	for _, name := range names {
		for _, c := range e.children {
			if c.name == name {
				if s := c.inner(); s != "" {
					return s
				}
			}
		}
	}
	return ""
}

// inner is the text in an element, elements in it included.
func (e *element) inner() string {
	var b strings.Builder
	var walk func(e *element)
	walk = func(e *element) {
		if b.Len() > maxElementText {
			return
		}
		b.WriteString(e.text)
		for _, c := range e.children {
			walk(c)
		}
	}
	walk(e)
	return strings.TrimSpace(b.String())
}

// resolved is a link seen from base.
func resolved(base *url.URL, link string) string {
	link = strings.TrimSpace(link)
	if base == nil || link == "" {
		return link
	}
	u, err := base.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return link
	}
	return u.String()
}
