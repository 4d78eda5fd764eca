package edit

import (
	"errors"
	"testing"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		why, bytes, body, encoding string
		bom                        bool
	}{
		{"plain", "a\r\n", "a\r\n", UTF8, false},
		{"empty", "", "", UTF8, false},
		{"UTF-8 with BOM", "\xef\xbb\xbfé", "é", UTF8, true},
		{"a second BOM is text", "\xef\xbb\xbf\xef\xbb\xbfa", "\ufeffa", UTF8, true},
		{"UTF-16LE", "\xff\xfea\x00\r\x00\n\x00", "a\r\n", UTF16LE, true},
		{"UTF-16BE", "\xfe\xff\x00a\xd8\x3d\xde\x00", "a😀", UTF16BE, true},
		{"UTF-32LE is not UTF-16LE", "\xff\xfe\x00\x00a\x00\x00\x00", "a", UTF32LE, true},
		{"UTF-32BE", "\x00\x00\xfe\xff\x00\x01\xf6\x00", "😀", UTF32BE, true},
		{"only a BOM", "\xff\xfe", "", UTF16LE, true},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, err := Decode([]byte(tt.bytes))
			if err != nil {
				t.Fatal(err)
			}
			if got.Body != tt.body || got.Encoding != tt.encoding || got.BOM != tt.bom {
				t.Errorf("%+v", got)
			}
			back, err := got.Encode(got.Body)
			if err != nil || string(back) != tt.bytes {
				t.Errorf("back: %q, %v", back, err)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		why, bytes   string
		offset, line int
	}{
		{"a sequence cut off at the end", "port = 1\ntail \xe4\xb8", 14, 2},
		{"another encoding", "# \xca\xfd", 2, 1},
		{"half a UTF-16 code unit", "\xff\xfea\x00\n\x00b", 6, 2},
		{"a surrogate alone", "\xff\xfea\x00\x00\xd8b\x00", 4, 1},
		{"a surrogate at the end", "\xfe\xff\xd8\x00", 2, 1},
		{"surrogates in the wrong order", "\xfe\xff\xdc\x00\xd8\x00", 2, 1},
		{"part of a UTF-32 code unit", "\xff\xfe\x00\x00a\x00", 4, 1},
		{"beyond Unicode", "\x00\x00\xfe\xff\x00\x11\x00\x00", 4, 1},
		{"a surrogate in UTF-32", "\x00\x00\xfe\xff\x00\x00\xd8\x00", 4, 1},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, err := Decode([]byte(tt.bytes))
			var bad *EncodingError
			if !errors.As(err, &bad) {
				t.Fatalf("not refused: %v", err)
			}
			if bad.Offset != tt.offset || bad.Line != tt.line {
				t.Errorf("offset %d, line %d: %v", bad.Offset, bad.Line, bad)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, text := range []Text{{}, {Encoding: UTF16LE}, {Encoding: UTF32BE}} {
		if out, err := text.Encode("a\xe4"); err == nil {
			t.Errorf("%+v wrote %q", text, out)
		}
	}
	if out, err := (Text{Encoding: "GBK"}).Encode("a"); err == nil {
		t.Errorf("wrote %q", out)
	}
}

func TestLines(t *testing.T) {
	tests := []struct {
		why, text string
		want      int
	}{
		{"empty", "", 0},
		{"no phantom last line", "a\nb\n", 2},
		{"no final ending", "a\nb", 2},
		{"only an ending", "\n", 1},
		{"CRLF", "a\r\nb\r\n", 2},
		{"CR only", "a\rb\r", 2},
		{"a CR among LF ends nothing", "a\rb\nc\n", 2},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := Lines(tt.text); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
			if got := len(splitLines(tt.text, separator(tt.text))); got != tt.want {
				t.Errorf("split in %d, want %d", got, tt.want)
			}
		})
	}
}

func TestEndings(t *testing.T) {
	tests := []struct {
		why, text string
		want      Endings
		uniform   bool
		majority  string
	}{
		{"none", "abc", Endings{}, true, ""},
		{"LF", "a\nb\n", Endings{LF: 2}, true, "\n"},
		{"CRLF", "a\r\nb\r\n", Endings{CRLF: 2}, true, "\r\n"},
		{"CR", "a\rb\r", Endings{CR: 2}, true, "\r"},
		{"mixed", "a\r\nb\nc\r\n", Endings{LF: 1, CRLF: 2}, false, "\r\n"},
		{"as many of each", "a\r\nb\n", Endings{LF: 1, CRLF: 1}, false, "\n"},
		{"a stray CR does not mix", "a\r\nb\rc\r\n", Endings{CRLF: 2, CR: 1}, true, "\r\n"},
		{"CR before CRLF", "a\r\r\n", Endings{CRLF: 1, CR: 1}, true, "\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got := CountEndings(tt.text)
			if got != tt.want || got.Majority() != tt.majority {
				t.Errorf("%+v, %q", got, got.Majority())
			}
			if _, ok := got.Uniform(); ok != tt.uniform {
				t.Errorf("uniform: %v", ok)
			}
		})
	}
}
