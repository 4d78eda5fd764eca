package syntax

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
)

// checkXML checks that text is well-formed.
func checkXML(text string) (*Error, bool) { return wellFormed(text, nil) }

// checkXHTML knows the entities of HTML, which no other XML has.
func checkXHTML(text string) (*Error, bool) { return wellFormed(text, xml.HTMLEntity) }

// xmlChecker adds to the tokens of encoding/xml what it leaves to its callers.
type xmlChecker struct {
	text    string
	decoder *xml.Decoder
	open    []openElement
	begin   int  // offset of the token being read
	rooted  bool // the root element was begun
	typed   bool // a document type was read
}

// openElement is an element whose end tag did not come yet.
type openElement struct {
	name xml.Name
	line int
}

func wellFormed(text string, entities map[string]string) (*Error, bool) {
	c := &xmlChecker{text: text, decoder: xml.NewDecoder(strings.NewReader(text))}
	c.decoder.Entity = entities
	// The text is UTF-8 by now, whatever its prolog says.
	c.decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		c.begin = int(c.decoder.InputOffset())
		token, err := c.decoder.RawToken()
		if errors.Is(err, io.EOF) {
			return c.end(), true
		}
		if err != nil {
			return c.failed(err)
		}
		if reason := c.token(token); reason != "" {
			return c.here(reason), true
		}
	}
}

// token returns what is wrong with the next token, "" if nothing.
func (c *xmlChecker) token(token xml.Token) string {
	switch t := token.(type) {
	case xml.StartElement:
		return c.start(t)
	case xml.EndElement:
		return c.close(t.Name)
	case xml.CharData:
		if len(c.open) == 0 && strings.Trim(string(t), " \t\r\n") != "" {
			return "text outside of the root element"
		}
	case xml.Directive:
		return c.directive(string(t))
	}
	return ""
}

func (c *xmlChecker) start(t xml.StartElement) string {
	if len(c.open) == 0 && c.rooted {
		return fmt.Sprintf("a second root element, <%s>", full(t.Name))
	}
	c.rooted = true
	line, _ := c.decoder.InputPos()
	c.open = append(c.open, openElement{t.Name, line})
	if len(t.Attr) < 2 {
		return ""
	}
	seen := make(map[xml.Name]bool, len(t.Attr))
	for _, a := range t.Attr {
		if seen[a.Name] {
			return fmt.Sprintf("the attribute %s is there twice", full(a.Name))
		}
		seen[a.Name] = true
	}
	return ""
}

func (c *xmlChecker) close(name xml.Name) string {
	if len(c.open) == 0 {
		return fmt.Sprintf("</%s> closes no element", full(name))
	}
	last := c.open[len(c.open)-1]
	if last.name != name {
		return fmt.Sprintf("</%s> where <%s> of line %d should be closed", full(name), full(last.name), last.line)
	}
	c.open = c.open[:len(c.open)-1]
	return ""
}

// end returns what is missing at the end of the text.
func (c *xmlChecker) end() *Error {
	if len(c.open) > 0 {
		last := c.open[len(c.open)-1]
		return at(c.text, len(c.text), fmt.Sprintf("<%s> of line %d is not closed", full(last.name), last.line))
	}
	if !c.rooted {
		return at(c.text, len(c.text), "no root element")
	}
	return nil
}

// entity matches the declaration of an entity, and reference its use.
var (
	entity    = regexp.MustCompile(`<!ENTITY\s+([^\s%"']+)\s`)
	external  = regexp.MustCompile(`^DOCTYPE\s+[^\s\[]+\s+(?:PUBLIC|SYSTEM)\s|%[^\s;"'<>]+;`)
	reference = regexp.MustCompile(`&([^\s#&;<>]{1,64});`)
)

// directive makes known the entities that a document type declares. One that
// lies in another file, which is not read, may declare any.
func (c *xmlChecker) directive(text string) string {
	if !strings.HasPrefix(text, "DOCTYPE") {
		return ""
	}
	if c.typed || c.rooted {
		return "a DOCTYPE where none is allowed"
	}
	c.typed = true
	names := entity.FindAllStringSubmatch(text, -1)
	if external.MatchString(text) {
		names = append(names, reference.FindAllStringSubmatch(c.text, -1)...)
	}
	known := maps.Clone(c.decoder.Entity)
	if known == nil {
		known = map[string]string{}
	}
	for _, m := range names {
		known[m[1]] = "?"
	}
	c.decoder.Entity = known
	return ""
}

// failed turns an error of the decoder into a verdict.
func (c *xmlChecker) failed(err error) (*Error, bool) {
	var syntax *xml.SyntaxError
	switch {
	case strings.Contains(err.Error(), "unsupported version"):
		return nil, false // XML 1.1 is not read here
	case !errors.As(err, &syntax):
		return c.here(strings.TrimPrefix(err.Error(), "xml: ")), true
	case syntax.Msg == "unexpected EOF":
		return at(c.text, c.begin, "a tag, comment or other markup that begins here does not end"), true
	default:
		return c.here(syntax.Msg), true
	}
}

// here returns an Error where the decoder is.
func (c *xmlChecker) here(reason string) *Error {
	line, column := c.decoder.InputPos()
	return &Error{Line: line, Column: column, Reason: reason}
}

// full returns the name as it is written.
func full(name xml.Name) string {
	if name.Space == "" {
		return name.Local
	}
	return name.Space + ":" + name.Local
}
