package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A role is what an element is by the class that programs which make pages give it,
// where HTML has no element for it.
type role int

const (
	noRole          role = iota
	isUnseenByClass      // for screen readers, or to work with the page
	isBoxTitle           // of a note or warning
	isSignature          // the declaration of a function or type
	isCode
)

var roles = map[string]role{
	// Text that is hidden from the eye, and tools of the page.
	"sr-only": isUnseenByClass, "visually-hidden": isUnseenByClass, "visuallyhidden": isUnseenByClass, "screen-reader-text": isUnseenByClass,
	"skip-link": isUnseenByClass, "skip-to-content": isUnseenByClass, "noprint": isUnseenByClass, "mw-editsection": isUnseenByClass,
	"mw-cite-backlink": isUnseenByClass, "katex-html": isUnseenByClass, "MathJax_Preview": isUnseenByClass, "hideme": isUnseenByClass,
	// The name of the language above code, which the fence says.
	"language-name": isUnseenByClass,

	"admonition-title": isBoxTitle, "custom-block-title": isBoxTitle, "note-title": isBoxTitle, "admonitionHeading": isBoxTitle, "alert-heading": isBoxTitle,
	"admonition-heading": isBoxTitle, "markdown-alert-title": isBoxTitle, "callout-title": isBoxTitle,

	"sig": isSignature, "sig-object": isSignature, "deftypefn": isSignature, "member-signature": isSignature, "type-signature": isSignature, "memproto": isSignature,

	"fragment": isCode,
}

// roleOf is the first role that the classes of an element give it.
func roleOf(n *html.Node) role {
	for class := range strings.FieldsSeq(classOf(n)) {
		r := roles[class]
		if r == noRole && class == "lang" && n.DataAtom == atom.Span {
			r = isUnseenByClass
		}
		if r == isCode && !holdsLines(n) {
			continue
		}
		if r != noRole {
			return r
		}
	}
	return noRole
}

// holdsLines tells whether an element consists of lines, as Doxygen writes code.
func holdsLines(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && strings.Contains(classOf(c), "line") {
			return true
		}
	}
	return false
}
