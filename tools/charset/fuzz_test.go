package charset

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// pick takes any encoding.
func pick(n uint8) Encoding { return Encoding{codecs[int(n)%len(codecs)]} }

func addSeeds(f *testing.F) {
	for i := range codecs {
		f.Add(uint8(i), []byte("ab\xca\xfd\xbe\xdd\xbf\xe2\x5c\n\x84\x31\xa4\x37\x8f\xb0\xa1\x88\x62"))
		f.Add(uint8(i), sample(pick(uint8(i)))[:300])
	}
}

// Decode agrees with x/text wherever that finds nothing wrong, and is strict.
func FuzzDecode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, n uint8, b []byte) { checkDecode(t, pick(n), b) })
}

// Whatever can be encoded decodes to the same.
func FuzzEncode(f *testing.F) {
	for i, c := range corpus {
		f.Add(uint8(i), c.text)
		f.Add(uint8(2), "\u00CA\u0304\u00CA\u0301\U0010FFFF\uFFFD")
	}
	f.Fuzz(func(t *testing.T, n uint8, s string) {
		e := pick(n)
		b, err := e.Encode(s)
		if err != nil {
			bad := err.(*Error)
			r, size := utf8.DecodeRuneInString(s[bad.Offset:])
			if _, again := e.Encode(s[:bad.Offset]); again != nil || bad.Rune != r {
				t.Fatalf("%v, but %v before", err, again)
			}
			if _, again := e.Encode(s[bad.Offset : bad.Offset+size]); again == nil {
				t.Fatalf("%v, but alone it can be", err)
			}
			return
		}
		if back, err := e.Decode(b); err != nil || back != s {
			t.Fatalf("%q is written as % X and read as %q, %v", s, b, back, err)
		}
	})
}

// Locate agrees with decoding each beginning.
func FuzzLocate(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, n uint8, b []byte) {
		e := pick(n)
		text, err := e.Decode(b)
		if err != nil || len(b) > 2000 {
			return
		}
		checkLocate(t, e, b, text)
	})
}

// The reader agrees with Decode, however the stream is cut.
func FuzzReader(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, n uint8, b []byte) {
		e := pick(n)
		want, wantErr := e.Decode(b)
		if wantErr != nil {
			want = mustDecode(t, e, b[:wantErr.(*Error).Offset])
		}
		cut := int(n) % (len(b) + 1)
		for _, r := range []io.Reader{
			iotest.OneByteReader(bytes.NewReader(b)),
			iotest.DataErrReader(bytes.NewReader(b)),
			io.MultiReader(bytes.NewReader(b[:cut]), bytes.NewReader(b[cut:])),
		} {
			got, err := io.ReadAll(e.NewReader(r))
			if string(got) != want || (err == nil) != (wantErr == nil) || err != nil && *err.(*Error) != *wantErr.(*Error) {
				t.Fatalf("%q, %v; Decode: %q, %v", got, err, want, wantErr)
			}
		}
	})
}

// The lossy reader gives what Decode gives between the bytes that do not fit, each
// of which is U+FFFD.
func FuzzLossyReader(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, n uint8, b []byte) {
		e := pick(n)
		var want strings.Builder
		for rest := b; ; {
			text, err := e.Decode(rest)
			if err == nil {
				want.WriteString(text)
				break
			}
			at := err.(*Error).Offset
			want.WriteString(mustDecode(t, e, rest[:at]) + "\uFFFD")
			rest = rest[at+1:]
		}
		cut := int(n) % (len(b) + 1)
		for _, r := range []io.Reader{
			iotest.OneByteReader(bytes.NewReader(b)),
			io.MultiReader(bytes.NewReader(b[:cut]), bytes.NewReader(b[cut:])),
		} {
			if got, err := io.ReadAll(e.NewLossyReader(r)); err != nil || string(got) != want.String() {
				t.Fatalf("%q, %v; want %q", got, err, want.String())
			}
		}
	})
}

// Detect never names an encoding for UTF-8, nor one that cannot read the text.
func FuzzDetect(f *testing.F) {
	for _, c := range corpus {
		for name := range strings.FieldsSeq(c.encodings) {
			if b, err := named(f, name).Encode(c.text); err == nil {
				f.Add(b[:200])
				f.Add(append(b[:100:100], c.text[:100]...))
			}
		}
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, ok := Detect(b)
		if !ok {
			return
		}
		if utf8.Valid(b) {
			t.Fatalf("%s claimed for UTF-8", e)
		}
		if _, err := e.Decode(b); err != nil && len(b) <= detectSize {
			t.Fatalf("%s claimed, but %v", e, err)
		}
		if again, _ := Detect(bytes.Clone(b)); again != e {
			t.Fatalf("%s, then %s", e, again)
		}
	})
}
