package sandbox

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func cleaned(in []byte, cut func(left int) int) string {
	var b bytes.Buffer
	c := newCleaner(&b)
	for len(in) > 0 {
		n := cut(len(in))
		c.Write(in[:n:n])
		in = in[n:]
	}
	c.Flush()
	return b.String()
}

func whole(left int) int { return left }

func TestCleaner(t *testing.T) {
	long := strings.Repeat("x", heldLine+10)
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"crlf", "a\r\nb\r\r\n", "a\nb\n"},
		{"progress", "10%\r50%\r100%\ndone\n", "100%\ndone\n"},
		{"progress at the end", "10%\r20%\r", "20%"},
		{"only overwritten by something", "a\r\x1b[K\n", "a\n"},
		{"erased and written", "Downloading 9%\r\x1b[Kok\n", "ok\n"},
		{"earlier lines stay", "a\nb\rc\n", "a\nc\n"},
		{"long line then cr", long + "\rnext\n", long + "\nnext\n"},
		{"long line crlf", long + "\r\nnext\r!\n", long + "\n!\n"},
		{"colours", "\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mx\x1b[m", "red x"},
		{"git", "\x1b[33mcommit 1\x1b[m\n", "commit 1\n"},
		{"charset", "\x1b(Bx\x1b)0y", "xy"},
		{"two characters", "\x1b=a\x1b>b\x1bMc\x1b7d", "abcd"},
		{"title", "\x1b]0;a title\x07text", "text"},
		{"link", "\x1b]8;;http://a/\x1b\\name\x1b]8;;\x1b\\!", "name!"},
		{"dcs over lines", "a\x1bPq#0\n#1\x1b\\b", "ab"},
		{"string cut short", "\x1b]0;x\x1b[1mbold", "bold"},
		{"open title ends with its line", "\x1b]0;lost\nkept\n", "\nkept\n"},
		{"cancelled", "\x1b[12\x18a\x1b]x\x1ab", "ab"},
		{"control within", "\x1b[1\nx", "\nx"},
		{"rune within", "\x1b[é", "é"},
		{"esc at the end", "a\x1b", "a"},
		{"esc esc", "\x1b\x1b[1mx", "x"},
		{"unterminated", "\x1bP" + strings.Repeat("y", maxEscape) + "zz", "zz"},
		{"nul and controls", "a\x00b\x01\x07\x0b\x0c\x7fc", "abc"},
		{"c1", "a\u009b1mb\u0085", "a1mb"},
		{"overstrike", "N\bNA\bAM\bM _\bx", "NAM x"},
		{"backspace at the start", "\b\ba\n\bb", "a\nb"},
		{"backspace a rune", "é界\b!", "é!"},
		{"spinner", "|\b/\b-\b\\\bdone", "done"},
		{"backspace after cr", "ab\r\bc", "c"},
		{"backspace in a long line", long + "\by", long + "y"},
		{"one bad byte", "a\xffb", "a\ufffdb"},
		{"maximal subparts", "\xe2\x82A\xf0\x9f\x98B\xc3", "\ufffdA\ufffdB\ufffd"},
		{"overlong", "\xc0\xaf\xe0\x80\xaf", "\ufffd\ufffd\ufffd\ufffd\ufffd"},
		{"surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"beyond", "\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"rune cut by a rune", "\xe7\x95界", "\ufffd界"},
		{"rune cut by esc", "\xe7\x95\x1b[1mx", "\ufffdx"},
		{"wide", "界😀é\n", "界😀é\n"},
		{"bad byte then nul", "a\xff\x00b", "a\ufffdb"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleaned([]byte(tt.in), whole); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := cleaned([]byte(tt.in), func(int) int { return 1 }); got != tt.want {
				t.Errorf("byte by byte: got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzCleaner(f *testing.F) {
	for _, s := range []string{
		"a\r\nb\rc\b\x1b[1mx\x1b]0;t\x07\xe2\x82\xff界", "\x1b\x1b\\\x1bP\n\x1b\\", "\xf0\x9f\x98\x80\xed\xa0\x80",
		strings.Repeat("x", heldLine-1) + "\by\rz", strings.Repeat("é", heldLine/2) + "\r\n\bq", "\x1b]" + strings.Repeat("a", 2000),
	} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		if len(in) < 64 && seed%3 == 0 {
			in = bytes.Repeat(in, 1+int(seed%1000))
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		want := cleaned(in, whole)
		if got := cleaned(in, func(n int) int { return 1 + rnd.IntN(min(n, 1+int(seed%5000))) }); got != want {
			t.Fatalf("cut otherwise: %q, whole: %q", got, want)
		}
		if !utf8.ValidString(want) {
			t.Fatalf("not UTF-8: %q", want)
		}
		for _, r := range want {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("control character in %q", want)
			}
		}
		if again := cleaned([]byte(want), whole); again != want {
			t.Fatalf("cleaned again: %q, once: %q", again, want)
		}
	})
}

func BenchmarkCleaner(b *testing.B) {
	for name, unit := range map[string]string{"log": strings.Repeat("x", 80) + "\n", "x": "x", "cjk": "界", "colour": "\x1b[32mok\x1b[0m some text of a test\r\n"} {
		b.Run(name, func(b *testing.B) {
			chunk := []byte(strings.Repeat(unit, (64<<10)/len(unit)))
			c := newCleaner(nullSpool{})
			b.SetBytes(int64(len(chunk)))
			for b.Loop() {
				c.Write(chunk)
			}
		})
	}
}
