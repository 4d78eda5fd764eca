package edit

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestAChangeMayTakeMoreTextThanTheFileHasBytes(t *testing.T) {
	text, err := DecodeAs([]byte("\xa1\xb1\n"), "GB18030") // a quotation mark: two bytes here, three in UTF-8
	if err != nil {
		t.Fatal(err)
	}
	res, err := Replace(text.Body, Request{Old: "”\n", New: ""})
	if err != nil {
		t.Fatal(err)
	}
	if parts, err := text.Change(res); err != nil || len(bytes.Join(parts, nil)) != 0 {
		t.Fatalf("% X, %v", parts, err)
	}
}

// Some sequences of Big5 are two characters in Unicode.
func TestAChangeInsideACharacterTakesAllOfIt(t *testing.T) {
	text, err := DecodeAs([]byte("\x88\x62a\x88\x62"), "Big5") // Ê̄aÊ̄
	if err != nil {
		t.Fatal(err)
	}
	res, err := ReplaceEach(text.Body, []Request{{Old: "\u00CA\u0304a", New: "\u00CAxa"}, {Old: "a\u00CA\u0304", New: "a\u00CA\u030C"}})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := text.Change(res)
	if got := bytes.Join(parts, nil); err != nil || string(got) != "\x88\x66xa\x88\xa5" && string(got) != "\x88\x66xa\x88\x64" {
		t.Fatalf("% X, %v", got, err)
	}
}

func TestWhatStaysInALegacyTextKeepsItsBytes(t *testing.T) {
	old := "\x87\x90 one\nkeep \x87\x90\nlast \xfa\x54\n" // with other sequences than x/text writes
	text, err := DecodeAs([]byte(old), "Shift_JIS")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := text.Change(Differing(text.Body, strings.Replace(text.Body, "one", "two", 1)))
	if got, want := string(bytes.Join(parts, nil)), strings.Replace(old, "one", "two", 1); err != nil || got != want {
		t.Fatalf("% X, want % X, %v", got, want, err)
	}
}

func TestPrefixesDoNotLiftTheLimit(t *testing.T) {
	text := strings.Repeat("a\n", 1000)
	for _, old := range []string{"a", "   1 | a"} {
		if _, err := Replace(text, Request{Old: old, New: strings.Repeat("b", 1000), All: true, Max: 5000}); !errors.Is(err, ErrTooLong) {
			t.Fatalf("%q: %v", old, err)
		}
	}
	if _, err := Replace(text, Request{Old: "a", New: "", All: true, Max: 10}); err != nil {
		t.Fatalf("a text that is larger than the limit may get smaller: %v", err)
	}
}
