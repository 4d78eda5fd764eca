package page

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var link = regexp.MustCompile(`\]\(([^)\s]*)`)

// Whatever a page holds, what is made of it is text that can be shown: no control
// characters, nothing unseen, no scripts, and links that lead somewhere.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"<p>a <b>b</b> <a href=x>c</a>", "<table><tr><td rowspan=9 colspan=9>a<td>b", "<ul><li><ol start=5><li>a</ol>", "<pre>a\n```\nb</pre>",
		"<dl><dt>a<dd>b<dl><dt>c", "<a href='javascript:x'>y</a>", "<b><p>x<i>y", "<details><summary>a<h3>b", "<li>x", "<blockquote><ul><li><pre>x",
		"<script>document.write('x')</script>", "<noscript><p>x", "<svg><title>x</title><p>y", "<math><annotation encoding=tex>x", "\x00\x01\u202e\U000E0041",
		"<base href='javascript:'><a href=y>z</a>", "<sup>2</sup><sub>a</sub>", "<td><tr><table>", "<frameset><frame src=x>", "<plaintext><b>",
	} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(1))
		f.Add(s, uint8(2))
	}
	f.Fuzz(func(t *testing.T, source string, format uint8) {
		p := Read([]byte(source), example, Format(format%3))
		for _, s := range []string{p.Text, p.Title} {
			if !utf8.ValidString(s) || Visible(s) != s {
				t.Fatalf("%q gives %q", source, s)
			}
		}
		if Format(format%3) != Markdown || strings.Contains(source, "](") || strings.Contains(source, "noscript") {
			return
		}
		for _, m := range link.FindAllStringSubmatch(p.Text, -1) {
			scheme, _, _ := strings.Cut(strings.ToLower(m[1]), ":")
			if scheme == "javascript" || scheme == "data" || scheme == "vbscript" {
				t.Fatalf("%q gives the link %q", source, m[1])
			}
		}
	})
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"a\u202eb", "🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", "👨\u200d👩", "می\u200cخواهم", "a\u200bb", "\x00\x7f\u0085", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Visible(s)
		if !utf8.ValidString(once) || Visible(once) != once || len(once) > 3*len(s) {
			t.Fatalf("%q: %q, then %q", s, once, Visible(once))
		}
	})
}
