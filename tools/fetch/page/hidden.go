package page

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// What a page hides from the eye by its styles.

var hiddenStyle = regexp.MustCompile(`(?:^|[;{\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden|font-size\s*:\s*(?:0(?:\.0\d*)?[a-z%]*|1px)\s*(?:;|!|$)|opacity\s*:\s*0(?:\.0\d*)?\s*(?:;|!|$)|(?:text-indent|left|top|right|margin-left)\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?|clip-path\s*:\s*inset\(\s*(?:50|100)%|transform\s*:\s*scale\(\s*0(?:\.0\d*)?\s*\))`)

// flatStyle is a box without height or width, which hides what is in it where nothing
// may stick out.
var (
	flatStyle   = regexp.MustCompile(`(?:^|[;{\s])(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:;|!|$)`)
	cutStyle    = regexp.MustCompile(`(?:^|[;{\s])overflow(?:-[xy])?\s*:\s*(?:hidden|clip)`)
	colourStyle = regexp.MustCompile(`(?:^|[;{\s])(background(?:-color)?|color)\s*:\s*([#a-z0-9(),.%]+)`)
	cssComment  = regexp.MustCompile(`/\*.*?\*/`)
	cssEscape   = regexp.MustCompile(`\\([0-9a-fA-F]{1,6})\s?`)
)

// hides tells whether a style makes an element invisible.
func hides(style string) bool {
	if len(style) > maxStyle {
		style = style[:maxStyle]
	}
	style = plainCSS(style)
	if strings.Contains(style, "background-clip") { // letters that show what is behind them
		return hiddenStyle.MatchString(style)
	}
	return hiddenStyle.MatchString(style) || flatStyle.MatchString(style) && cutStyle.MatchString(style) || sameColours(style)
}

// plainCSS is a style without comments and escapes, in lower case.
func plainCSS(s string) string {
	if strings.Contains(s, "/*") {
		s = cssComment.ReplaceAllString(s, "")
	}
	if strings.IndexByte(s, '\\') >= 0 {
		s = cssEscape.ReplaceAllStringFunc(s, func(e string) string {
			n, err := strconv.ParseUint(strings.TrimSpace(e[1:]), 16, 32)
			if err != nil || n > 0x7f {
				return ""
			}
			return string(rune(n))
		})
		s = strings.ReplaceAll(s, `\`, "")
	}
	return strings.ToLower(s)
}

// sameColours: letters in the colour of what is behind them.
func sameColours(style string) bool {
	var front, back string
	for _, m := range colourStyle.FindAllStringSubmatch(style, 20) {
		if m[1] == "color" {
			front = m[2]
		} else {
			back = m[2]
		}
	}
	if front == "transparent" {
		return true
	}
	return front != "" && front == back && front != "inherit" && front != "initial" && front != "currentcolor"
}

const (
	// maxStyle bounds what is searched of a style, and maxSheet of a style sheet.
	maxStyle = 4 << 10
	maxSheet = 256 << 10
	// maxHiders bounds the names that sheets of a page hide.
	maxHiders = 2000
)

// sheetRule is a rule of one class or id.
var sheetRule = regexp.MustCompile(`(?s)(?:^|[};])\s*([.#])([A-Za-z_][\w-]*)\s*\{([^{}]*)\}`)

// readSheet notes the classes and ids that a page's own style sheet hides as such: not
// within a condition, and not together with another class.
func (d *document) readSheet(n *html.Node) {
	if attr(n, "media") != "" && !strings.EqualFold(attr(n, "media"), "all") && !strings.EqualFold(attr(n, "media"), "screen") {
		return
	}
	css := withoutConditions(cssComment.ReplaceAllString(textOf(n, maxSheet), ""))
	shown := map[string]bool{}
	for at := 0; at < len(css); {
		m := sheetRule.FindStringSubmatchIndex(css[at:])
		if m == nil || len(d.hiders) >= maxHiders {
			return
		}
		name, body := css[at+m[2]:at+m[3]]+css[at+m[4]:at+m[5]], css[at+m[6]:at+m[7]]
		if hides(body) && !shown[name] {
			if d.hiders == nil {
				d.hiders = make(map[string]bool)
			}
			d.hiders[name] = true
		} else if strings.Contains(body, "display") || strings.Contains(body, "visibility") {
			shown[name] = true
			delete(d.hiders, name)
		}
		at += m[7]
	}
}

// withoutConditions leaves out @media and the like, with what is in them.
func withoutConditions(css string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(css, '@')
		if i < 0 {
			b.WriteString(css)
			return b.String()
		}
		b.WriteString(css[:i])
		css = css[i:]
		end := strings.IndexAny(css, "{;")
		if end < 0 {
			return b.String()
		}
		if css[end] == ';' {
			css = css[end+1:]
			continue
		}
		depth := 0
		for end < len(css) {
			if css[end] == '{' {
				depth++
			} else if css[end] == '}' {
				if depth--; depth == 0 {
					end++
					break
				}
			}
			end++
		}
		css = css[end:]
	}
}

// isHidden tells whether an element is not seen, whatever is in it.
func (d *document) isHidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			// What waits behind a tab is a part of the page: the same command for another system.
			if !strings.EqualFold(a.Val, "until-found") && attr(n, "role") != "tabpanel" {
				return true
			}
		case "aria-hidden":
			if strings.EqualFold(a.Val, "true") && !isPicture(n) {
				return true
			}
		case "style":
			if hides(a.Val) && attr(n, "role") != "tabpanel" {
				return true
			}
		case "id":
			if d.hiders["#"+a.Val] {
				return true
			}
		case "class":
			if roleOf(n) == isUnseenByClass || hidesByClass(a.Val) || d.hidesClass(a.Val) {
				return true
			}
		}
	}
	return false
}

func (d *document) hidesClass(classes string) bool {
	if len(d.hiders) == 0 {
		return false
	}
	for class := range strings.FieldsSeq(classes) {
		if d.hiders["."+class] {
			return true
		}
	}
	return false
}

// hidesByClass: the classes by which two frameworks hide, where no other class shows
// the element on wider screens.
func hidesByClass(classes string) bool {
	hidden := false
	for class := range strings.FieldsSeq(classes) {
		switch {
		case class == "d-none" || class == "hidden" || class == "invisible":
			hidden = true
		case strings.Contains(class, ":") || strings.HasPrefix(class, "d-"):
			return false
		}
	}
	return hidden
}
