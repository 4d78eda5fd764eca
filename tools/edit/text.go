// Package edit finds and replaces text the way a careful editor would: it
// touches nothing but the place meant, keeps the file's own characters, and
// refuses rather than guesses. It opens no file.
package edit

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"mcp-tools/tools/charset"
)

// The encodings that [Decode] knows.
const (
	UTF8    = "UTF-8"
	UTF16LE = "UTF-16LE"
	UTF16BE = "UTF-16BE"
	UTF32LE = "UTF-32LE"
	UTF32BE = "UTF-32BE"
)

// Text is the decoded content of a file: Body is UTF-8 without a byte order
// mark, with the file's own line endings. The zero value is an empty UTF-8 file.
type Text struct {
	Body     string
	Encoding string // one of the constants above, or the name of a legacy encoding; "" means UTF-8
	BOM      bool

	legacy charset.Encoding // not zero: the text is in it, and these are its bytes
	bytes  []byte
	named  bool // the encoding was given, not found out
}

// An EncodingError tells where bytes are not valid in their encoding. Nothing is
// ever repaired: bytes that cannot be written back unchanged are refused.
type EncodingError struct {
	Encoding string
	Offset   int // of the first bad byte, in the bytes or the body given
	Line     int // 1-based
	Reason   string
}

func (e *EncodingError) Error() string {
	return fmt.Sprintf("not valid %s: %s at byte %d (line %d)", e.Encoding, e.Reason, e.Offset, e.Line)
}

// boms is ordered: the mark of UTF-32LE begins with that of UTF-16LE.
var boms = []struct{ encoding, mark string }{
	{UTF32LE, "\xff\xfe\x00\x00"},
	{UTF32BE, "\x00\x00\xfe\xff"},
	{UTF8, "\xef\xbb\xbf"},
	{UTF16LE, "\xff\xfe"},
	{UTF16BE, "\xfe\xff"},
}

func markOf(encoding string) string {
	for _, b := range boms {
		if b.encoding == encoding {
			return b.mark
		}
	}
	return ""
}

// Decode reads b by its byte order mark; without one as UTF-8, and if that is not
// valid, in the legacy encoding it is surely in. The text may share b's memory: b
// must not be changed any more. The error is an [*EncodingError].
func Decode(b []byte) (Text, error) {
	t, err := decodeUnicode(b)
	if err == nil || t.BOM {
		return t, err
	}
	if legacy, ok := charset.Detect(b); ok {
		if t, bad := decodeLegacy(b, legacy); bad == nil {
			return t, nil
		}
	}
	return Text{}, err
}

// decodeUnicode reads b by its byte order mark, or as UTF-8. Encoding the body
// again gives exactly b.
func decodeUnicode(b []byte) (Text, error) {
	t := Text{Encoding: UTF8}
	rest := b
	for _, m := range boms {
		if strings.HasPrefix(string(b[:min(len(b), 4)]), m.mark) {
			t.Encoding, t.BOM = m.encoding, true
			rest = b[len(m.mark):]
			break
		}
	}
	var bad *EncodingError
	switch t.Encoding {
	case UTF16LE:
		t.Body, bad = decode16(rest, binary.LittleEndian)
	case UTF16BE:
		t.Body, bad = decode16(rest, binary.BigEndian)
	case UTF32LE:
		t.Body, bad = decode32(rest, binary.LittleEndian)
	case UTF32BE:
		t.Body, bad = decode32(rest, binary.BigEndian)
	default:
		t.Body = unsafe.String(unsafe.SliceData(rest), len(rest))
		bad = checkUTF8(t.Body)
	}
	if bad != nil {
		bad.Encoding = t.Encoding
		bad.Offset += len(b) - len(rest)
		return Text{BOM: t.BOM}, bad
	}
	return t, nil
}

// Encode writes body in t's encoding, with t's byte order mark. A body that is
// not valid UTF-8, or has a character that the encoding cannot hold, is refused
// with an [*EncodingError].
func (t Text) Encode(body string) ([]byte, error) {
	if t.legacy != (charset.Encoding{}) {
		return t.encodeLegacy(body)
	}
	encoding := t.Encoding
	if encoding == "" {
		encoding = UTF8
	}
	if bad := checkUTF8(body); bad != nil {
		bad.Encoding = UTF8
		return nil, bad
	}
	mark := ""
	if t.BOM {
		mark = markOf(encoding)
	}
	switch encoding {
	case UTF8:
		out := make([]byte, 0, len(mark)+len(body))
		return append(append(out, mark...), body...), nil
	case UTF16LE:
		return encode16(mark, body, binary.LittleEndian), nil
	case UTF16BE:
		return encode16(mark, body, binary.BigEndian), nil
	case UTF32LE:
		return encode32(mark, body, binary.LittleEndian), nil
	case UTF32BE:
		return encode32(mark, body, binary.BigEndian), nil
	}
	return nil, &EncodingError{Encoding: encoding, Line: 1, Reason: "unknown encoding"}
}

func checkUTF8(s string) *EncodingError {
	if utf8.ValidString(s) {
		return nil
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return &EncodingError{Offset: i, Line: LineAt(s, i), Reason: fmt.Sprintf("byte 0x%02x", s[i])}
		}
		i += n
	}
	return nil
}

func decode16(b []byte, order binary.ByteOrder) (string, *EncodingError) {
	var out strings.Builder
	out.Grow(len(b)/2 + len(b)/8)
	fail := func(at int, reason string) (string, *EncodingError) {
		return "", &EncodingError{Offset: at, Line: LineAt(out.String(), out.Len()), Reason: reason}
	}
	for i := 0; i < len(b); i += 2 {
		if i+1 == len(b) {
			return fail(i, "half a code unit at the end")
		}
		r := rune(order.Uint16(b[i:]))
		if !utf16.IsSurrogate(r) {
			out.WriteRune(r)
			continue
		}
		if i+3 >= len(b) {
			return fail(i, "half a surrogate pair")
		}
		pair := utf16.DecodeRune(r, rune(order.Uint16(b[i+2:])))
		if pair == utf8.RuneError {
			return fail(i, "half a surrogate pair")
		}
		out.WriteRune(pair)
		i += 2
	}
	return out.String(), nil
}

func decode32(b []byte, order binary.ByteOrder) (string, *EncodingError) {
	var out strings.Builder
	out.Grow(len(b) / 4)
	for i := 0; i < len(b); i += 4 {
		reason := ""
		var v uint32
		if i+4 > len(b) {
			reason = "part of a code unit at the end"
		} else if v = order.Uint32(b[i:]); v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
			reason = fmt.Sprintf("code point 0x%x", v)
		}
		if reason != "" {
			return "", &EncodingError{Offset: i, Line: LineAt(out.String(), out.Len()), Reason: reason}
		}
		out.WriteRune(rune(v))
	}
	return out.String(), nil
}

func encode16(mark, body string, order binary.AppendByteOrder) []byte {
	out := make([]byte, 0, len(mark)+2*len(body))
	out = append(out, mark...)
	for _, r := range body {
		if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			out = order.AppendUint16(order.AppendUint16(out, uint16(r1)), uint16(r2))
			continue
		}
		out = order.AppendUint16(out, uint16(r))
	}
	return out
}

func encode32(mark, body string, order binary.AppendByteOrder) []byte {
	out := make([]byte, 0, len(mark)+4*utf8.RuneCountInString(body))
	out = append(out, mark...)
	for _, r := range body {
		out = order.AppendUint32(out, uint32(r))
	}
	return out
}
