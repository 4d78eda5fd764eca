package body

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	own "mcp-tools/tools/charset"
)

// Decode reads a body as UTF-8 text. Its encoding is the one of its byte order mark,
// its header, its own meta element or XML declaration, UTF-8 if it is that, the one it
// is surely in, and else windows-1252, as a browser has it. What does not fit the
// encoding becomes U+FFFD, and is told in a note.
func Decode(content []byte, contentType string, kind Kind) (text string, notes []string) {
	name, enc, rest := encodingOf(content, contentType, kind)
	if enc == nil {
		text = string(rest)
		if utf8.ValidString(text) {
			return text, nil
		}
		return strings.ToValidUTF8(text, "\uFFFD"), []string{"it is not all valid UTF-8: what is not is shown as \uFFFD"}
	}
	out, err := io.ReadAll(enc.NewDecoder().Reader(bytes.NewReader(rest)))
	text = strings.ToValidUTF8(string(out), "\uFFFD")
	if err != nil || strings.ContainsRune(text, utf8.RuneError) {
		notes = append(notes, fmt.Sprintf("it is not all valid %s: what is not is shown as \uFFFD", name))
	}
	return text, notes
}

// encodingOf finds the encoding; nil for UTF-8. rest is without a byte order mark.
func encodingOf(b []byte, contentType string, kind Kind) (name string, enc encoding.Encoding, rest []byte) {
	for _, m := range []struct {
		mark, name string
		enc        encoding.Encoding
	}{
		{"\xef\xbb\xbf", "UTF-8", nil},
		{"\xff\xfe\x00\x00", "UTF-32LE", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
		{"\x00\x00\xfe\xff", "UTF-32BE", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
		{"\xff\xfe", "UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{"\xfe\xff", "UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	} {
		if bytes.HasPrefix(b, []byte(m.mark)) {
			return m.name, m.enc, b[len(m.mark):]
		}
	}
	if name, enc, ok := byLabel(headerLabel(contentType)); ok {
		return name, enc, b
	}
	if utf8.Valid(b) { // whatever the page says of itself: it was converted and not changed
		return "UTF-8", nil, b
	}
	if name, enc, ok := byLabel(ownLabel(b, kind)); ok {
		return name, enc, b
	}
	if legacy, ok := own.Detect(b); ok {
		if _, enc, ok := byLabel(legacy.Name()); ok {
			return legacy.Name(), enc, b
		}
	}
	if mostlyUTF8(b) {
		return "UTF-8", nil, b
	}
	_, enc, _ = byLabel("windows-1252")
	return "windows-1252", enc, b
}

// byLabel is an encoding by one of its names (WHATWG Encoding). UTF-16 without a byte
// order mark is what its name says; of UTF-8 the encoding is nil.
func byLabel(label string) (string, encoding.Encoding, bool) {
	label = strings.ToLower(strings.Trim(label, " \t\r\n\"';"))
	if label == "" {
		return "", nil, false
	}
	enc, name := charset.Lookup(label)
	switch {
	case enc == nil || enc == encoding.Replacement:
		return "", nil, false
	case name == "utf-8":
		return "UTF-8", nil, true
	}
	return name, enc, true
}

func headerLabel(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err == nil {
		return params["charset"]
	}
	if m := charsetIn.FindStringSubmatch(contentType); m != nil { // badly written, and clear
		return m[1]
	}
	return ""
}

var (
	charsetIn  = regexp.MustCompile(`(?i)charset\s*=\s*["']?([A-Za-z0-9_:.-]+)`)
	metaIn     = regexp.MustCompile(`(?i)<meta\s[^>]*charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)`)
	xmlIn      = regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9_:.-]+)`)
	declaredIn = 4 << 10 // bytes in which a page must say its encoding
)

// ownLabel is the encoding that a page or an XML document names. It cannot be UTF-16,
// for then the name could not be read.
func ownLabel(b []byte, kind Kind) string {
	head := b[:min(len(b), declaredIn)]
	var m [][]byte
	switch kind {
	case HTML:
		if m = metaIn.FindSubmatch(head); m == nil {
			m = xmlIn.FindSubmatch(head)
		}
	case XML:
		m = xmlIn.FindSubmatch(head)
	}
	if m == nil {
		return ""
	}
	label := string(m[1])
	if low := strings.ToLower(label); strings.HasPrefix(low, "utf-16") || strings.HasPrefix(low, "utf-32") {
		return "utf-8"
	}
	return label
}

// mostlyUTF8: text with characters of UTF-8 in it and few faults.
func mostlyUTF8(b []byte) bool {
	good, bad := 0, 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		b = b[n:]
	}
	return good > 4*bad
}
