package edit

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
	"unsafe"

	"mcp-tools/tools/charset"
)

// ErrUnknownEncoding: there is no such encoding.
var ErrUnknownEncoding = errors.New("unknown encoding")

// ErrNotItself: after the change the text would be read in another encoding, or
// in none, by whoever finds out its encoding anew.
var ErrNotItself = errors.New("the text could no longer be told to be in its encoding")

// DecodeAs reads b in the encoding that name says, which Decode need not find out.
// Errors: [ErrUnknownEncoding], [*EncodingError].
func DecodeAs(b []byte, name string) (Text, error) {
	legacy, ok := charset.Named(name)
	if !ok {
		return Text{}, ErrUnknownEncoding
	}
	t, bad := decodeLegacy(b, legacy)
	if bad != nil {
		return Text{}, bad
	}
	t.named = true
	return t, nil
}

func decodeLegacy(b []byte, legacy charset.Encoding) (Text, *EncodingError) {
	body, err := legacy.Decode(b)
	if err != nil {
		var bad *charset.Error
		if !errors.As(err, &bad) {
			return Text{}, &EncodingError{Encoding: legacy.Name(), Line: 1, Reason: err.Error()}
		}
		return Text{}, &EncodingError{Encoding: legacy.Name(), Offset: bad.Offset, Line: LineAt(string(b[:bad.Offset]), bad.Offset), Reason: bad.Reason}
	}
	return Text{Body: body, Encoding: legacy.Name(), legacy: legacy, bytes: b}, nil
}

// Change gives the bytes of the text with r, which was made from its body, as parts
// that follow one another and must not be changed. Bytes of a legacy encoding
// outside of r's changes are those that were there, also where encoding them anew
// would give others.
//
// Errors: [*EncodingError], [ErrNotItself].
func (t Text) Change(r Result) ([][]byte, error) {
	switch {
	case t.legacy != charset.Encoding{}:
		b, err := t.changeLegacy(r)
		return [][]byte{b}, err
	case t.Encoding == UTF8 || t.Encoding == "":
		return t.changeUTF8(r)
	}
	b, err := t.Encode(r.Text())
	return [][]byte{b}, err
}

// minShared is the length from which on what a change leaves is a part of its own.
const minShared = 4 << 10

// changeUTF8 copies what is changed; what is not is shared with the body.
func (t Text) changeUTF8(r Result) ([][]byte, error) {
	for _, c := range r.Changes {
		if bad := checkUTF8(c.New); bad != nil {
			bad.Encoding = UTF8
			return nil, bad
		}
	}
	var out [][]byte
	var small []byte
	if t.BOM {
		small = append(small, markOf(UTF8)...)
	}
	for part := range r.parts {
		if len(part) < minShared {
			small = append(small, part...)
			continue
		}
		out = append(out, small, unsafe.Slice(unsafe.StringData(part), len(part)))
		small = nil
	}
	return append(out, small), nil
}

// locate says where the ends of changes stand in t's bytes.
func (t Text) locate(changes []Change) (offsets, at []int) {
	offsets = make([]int, 0, 2*len(changes))
	for _, c := range changes {
		offsets = append(offsets, c.Start, c.End)
	}
	return offsets, t.legacy.Locate(t.bytes, offsets)
}

// widened lets changes that begin or end within a character of the encoding take all
// of it: some of Big5 are two in Unicode.
func (t Text) widened(changes []Change, at []int) []Change {
	out := slices.Clone(changes)
	for i, c := range changes {
		if _, n := utf8.DecodeLastRuneInString(t.Body[:c.Start]); at[2*i] < 0 && (i == 0 || out[i-1].End <= c.Start-n) {
			out[i].Start, out[i].New = c.Start-n, t.Body[c.Start-n:c.Start]+c.New
		}
		if _, n := utf8.DecodeRuneInString(t.Body[c.End:]); at[2*i+1] < 0 && (i+1 == len(changes) || c.End+n <= changes[i+1].Start) {
			out[i].End, out[i].New = c.End+n, out[i].New+t.Body[c.End:c.End+n]
		}
	}
	return out
}

func (t Text) changeLegacy(r Result) ([]byte, error) {
	offsets, at := t.locate(r.Changes)
	if slices.Contains(at, -1) {
		r.Changes = t.widened(r.Changes, at)
		offsets, at = t.locate(r.Changes)
	}
	if i := slices.Index(at, -1); i >= 0 { // within what is one character there, and two in Unicode
		return nil, &EncodingError{Encoding: t.Encoding, Offset: offsets[i], Line: LineAt(t.Body, offsets[i]), Reason: "the change would divide a character of this encoding"}
	}
	out := make([]byte, 0, max(0, len(t.bytes)+r.Size()-len(t.Body))) // about: a character has fewer bytes here
	from := 0
	for i, c := range r.Changes {
		next, err := t.encodePart(c.New)
		if err != nil {
			return nil, err
		}
		out = append(append(out, t.bytes[from:at[2*i]]...), next...)
		from = at[2*i+1]
	}
	out = append(out, t.bytes[from:]...)
	return out, t.isStill(out, r.Text())
}

// encodeLegacy writes a whole new body.
func (t Text) encodeLegacy(body string) ([]byte, error) {
	out, err := t.encodePart(body)
	if err != nil {
		return nil, err
	}
	return out, t.isStill(out, body)
}

func (t Text) encodePart(s string) ([]byte, error) {
	out, err := t.legacy.Encode(s)
	var bad *charset.Error
	if errors.As(err, &bad) {
		return nil, &EncodingError{Encoding: t.Encoding, Offset: bad.Offset, Line: LineAt(s, bad.Offset),
			Reason: fmt.Sprintf("it has no %q (U+%04X)", bad.Rune, bad.Rune)}
	}
	return out, err
}

// isStill makes sure that b will be read as body: a text whose encoding has to be
// found out could come to look like one in another.
func (t Text) isStill(b []byte, body string) error {
	if t.named {
		return nil
	}
	if again, err := Decode(b); err != nil || again.Body != body {
		return ErrNotItself
	}
	return nil
}
