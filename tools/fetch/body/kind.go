// Package body turns the bytes of an HTTP answer into text: it says what they are,
// whatever the server says, in which encoding, and writes down JSON, feeds and XML
// so that they can be read. It is pure.
package body

import (
	"bytes"
	"mime"
	"regexp"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// A Kind is what a body is, for those who show it.
type Kind int

// The kinds of bodies.
const (
	Binary Kind = iota
	Text        // as it is: plain, Markdown, CSV, source code
	HTML
	JSON
	XML // feeds too
	PDF
	Picture // PNG, JPEG, GIF or WebP
)

// sniffed is how much of a body says what it is, in bytes.
const sniffed = 3 << 10

// KindOf says what a body is, and the media type it has. The server's word counts
// for what looks like text; what is binary says itself what it is.
func KindOf(contentType string, content []byte) (Kind, string) {
	declared, _, _ := mime.ParseMediaType(contentType)
	if declared == "" {
		declared = strings.ToLower(strings.TrimSpace(strings.Split(contentType, ";")[0]))
	}
	if !mediaType.MatchString(declared) { // it is shown: nothing else may stand there
		declared = ""
	}
	head := content[:min(len(content), sniffed)]
	found := mimetype.Detect(head)
	name, _, _ := strings.Cut(found.String(), ";")
	switch name {
	case "application/pdf":
		return PDF, name
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return Picture, name
	}
	if kind := kindOfType(declared); isWide(contentType) && kind != Binary && kind != PDF && kind != Picture {
		return kind, declared // in UTF-16 half of it are NULs
	}
	if !isText(found) && !(name == "application/octet-stream" && looksLikeText(head, kindOfType(declared))) {
		if name == "application/octet-stream" && declared != "" && !strings.HasPrefix(declared, "text/") && kindOfType(declared) == Binary {
			name = declared
		}
		return Binary, name
	}
	if kind := kindOfType(declared); kind != Binary && !contradicts(kind, content) {
		return kind, declared
	}
	if kind := kindOfStart(content); kind != Text {
		return kind, name
	}
	return Text, "text/plain"
}

// isWide tells whether the header names an encoding with several bytes for each letter.
func isWide(contentType string) bool {
	label := strings.ToLower(headerLabel(contentType))
	return strings.HasPrefix(label, "utf-16") || strings.HasPrefix(label, "utf-32") || strings.Contains(label, "ucs-2")
}

// mediaType is a media type of a length that is seen (RFC 6838, section 4.2).
var mediaType = regexp.MustCompile(`^[a-z]{1,20}/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}$`)

// contradicts: what says it is JSON, and is a page, or the other way about. Servers that send a
// page under another name are common; a page that is sent as text/plain is meant to be
// seen as its source.
func contradicts(kind Kind, content []byte) bool {
	switch start := kindOfStart(content); kind {
	case JSON, XML, Picture, PDF:
		return start == HTML
	case HTML:
		return start == JSON && !bytes.ContainsRune(content[:min(len(content), sniffed)], '<')
	}
	return false
}

// isText tells whether a type is one of text.
func isText(m *mimetype.MIME) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return false
}

// looksLikeText: no control characters that no text has, or, where the server says
// that it is a page or data, few. It may be in any encoding.
func looksLikeText(head []byte, declared Kind) bool {
	if len(head) == 0 {
		return true
	}
	if hasMark(head) {
		return true
	}
	odd := 0
	for _, b := range head {
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b || b == 0x7f {
			odd++
		}
	}
	switch declared {
	case HTML, JSON, XML:
		return odd*5 < len(head)
	case Text:
		return odd*10 < len(head) && bytes.IndexByte(head, 0) < 0
	}
	return odd == 0
}

func hasMark(b []byte) bool {
	return bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) || bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff"))
}

// kindOfType is what a media type says; Binary of one that says nothing.
func kindOfType(t string) Kind {
	switch t {
	case "text/html", "application/xhtml+xml":
		return HTML
	case "application/json", "text/json", "application/ndjson", "application/x-ndjson", "application/jsonl", "application/geo+json", "application/manifest+json", "application/feed+json":
		return JSON
	case "application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml", "image/svg+xml", "text/x-opml", "application/opml+xml":
		return XML
	case "application/javascript", "application/x-javascript", "application/ecmascript", "application/yaml", "application/x-yaml", "application/toml", "application/sql", "application/graphql",
		"application/x-sh", "application/x-httpd-php", "application/rtf", "application/x-tex", "application/x-www-form-urlencoded", "application/typescript", "message/rfc822", "application/x-ndjson+text":
		return Text
	case "application/pdf":
		return PDF
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return Picture
	}
	switch {
	case strings.HasSuffix(t, "+json"):
		return JSON
	case strings.HasSuffix(t, "+xml"):
		return XML
	case strings.HasSuffix(t, "+yaml"), strings.HasPrefix(t, "text/"):
		return Text
	}
	return Binary
}

// kindOfStart is what the beginning of a text says it is.
func kindOfStart(content []byte) Kind {
	s := bytes.TrimLeft(bytes.TrimPrefix(content[:min(len(content), sniffed)], []byte("\xef\xbb\xbf")), " \t\r\n")
	low := bytes.ToLower(s[:min(len(s), 200)])
	switch {
	case bytes.HasPrefix(low, []byte("<!doctype html")), bytes.HasPrefix(low, []byte("<html")), bytes.HasPrefix(low, []byte("<head")), bytes.HasPrefix(low, []byte("<body")),
		bytes.HasPrefix(low, []byte("<!--")) && bytes.Contains(bytes.ToLower(s), []byte("<html")):
		return HTML
	case bytes.HasPrefix(low, []byte("<?xml")):
		if bytes.Contains(bytes.ToLower(s), []byte("<html")) {
			return HTML
		}
		return XML
	case len(s) > 0 && (s[0] == '{' || s[0] == '[') && looksLikeJSON(s):
		return JSON
	}
	return Text
}

// looksLikeJSON: an object whose first name is a string, or a list of what JSON has.
func looksLikeJSON(s []byte) bool {
	rest := bytes.TrimLeft(s[1:], " \t\r\n")
	if len(rest) == 0 {
		return false
	}
	if s[0] == '{' {
		return rest[0] == '"' || rest[0] == '}'
	}
	return bytes.IndexByte([]byte(`{["]-0123456789tfn`), rest[0]) >= 0
}
