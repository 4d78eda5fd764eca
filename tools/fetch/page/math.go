package page

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// linear writes MathML that has no TeX in one line: a fraction as (a)/(b), a power as
// a^b. Without that 1/2 would be 12.
func linear(n *html.Node, depth int) string {
	if n.Type == html.TextNode {
		return strings.Join(strings.Fields(n.Data), " ")
	}
	if depth > maxMath || n.Type != html.ElementNode {
		return ""
	}
	var parts []string
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode && strings.TrimSpace(c.Data) == "" {
			continue
		}
		parts = append(parts, linear(c, depth+1))
	}
	at := func(i int) string {
		if i < len(parts) {
			return grouped(parts[i])
		}
		return ""
	}
	switch n.Data {
	case "annotation", "annotation-xml":
		return ""
	case "mfrac":
		return at(0) + "/" + at(1)
	case "msqrt":
		return "√" + grouped(strings.Join(parts, ""))
	case "mroot":
		return at(0) + "^(1/" + at(1) + ")"
	case "msup", "mover":
		return at(0) + "^" + at(1)
	case "msub", "munder":
		return at(0) + "_" + at(1)
	case "msubsup", "munderover":
		return at(0) + "_" + at(1) + "^" + at(2)
	case "mtr", "mtd":
		return strings.Join(parts, " ") + " "
	case "mtable":
		return "[" + strings.TrimSpace(strings.Join(parts, "; ")) + "]"
	}
	return strings.Join(parts, "")
}

// maxMath is how deep formulas are looked into.
const maxMath = 60

// grouped puts parentheses around what is more than one sign or number.
func grouped(s string) string {
	if utf8.RuneCountInString(s) < 2 || strings.Trim(s, "0123456789.") == "" || strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		return s
	}
	return "(" + s + ")"
}
