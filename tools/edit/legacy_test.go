package edit

import (
	"bytes"
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
