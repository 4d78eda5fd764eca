package page

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// manual is a page of documentation of about n bytes, as a generator makes them.
func manual(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`<!DOCTYPE html><html><head><title>Manual</title><style>x{}</style></head><body><nav><ul><li><a href="a">A</a></li></ul></nav><div role="main">`)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `<section id="s%d"><h2>Section %d<a class="headerlink" href="#s%d">¶</a></h2><p>Some text about <a class="reference internal" href="x%d.html"><code class="docutils literal"><span class="pre">func_%d</span></code></a> and more words that make it a real paragraph of text.</p><div class="highlight-python"><pre><span class="k">def</span> <span class="nf">f</span><span class="p">(</span>x<span class="p">):</span>
    <span class="k">return</span> <span class="n">x</span>
</pre></div><ul><li><p>one</p></li><li>two</li></ul><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></section>`, i, i, i, i, i)
	}
	b.WriteString("</div></body></html>")
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	u, _ := url.Parse("https://example.org/dir/")
	unmarked := func(n int) []byte { return bytes.ReplaceAll(manual(n), []byte(`role="main"`), nil) }
	for _, bb := range []struct {
		name string
		page []byte
	}{
		{"1 MB", manual(1 << 20)},
		{"1 MB, unmarked", unmarked(1 << 20)},
		{"100 KB, unmarked", unmarked(100 << 10)},
		{"10 MB", manual(10 << 20)},
		{"10 MB of one paragraph", []byte("<p>" + strings.Repeat("word &amp; <b>bold</b> ", 10<<20/22))},
		{"10 MB of text", []byte(strings.Repeat("a_b*c ", 10<<20/6))},
		{"10 MB too deep", []byte(strings.Repeat("<div>x", 10<<20/6))},
		{"10 MB of rows", []byte("<table>" + strings.Repeat("<tr><td>a<td>b", 10<<20/14))},
		{"10 MB of items", []byte("<ul>" + strings.Repeat("<li>a", 10<<20/5))},
		{"1 MB of links in a line", []byte(strings.Repeat(`<a href="x">y</a>`, 1<<20/17))},
		{"1 MB of unclosed bold", []byte(strings.Repeat("<b>x", 1<<20/4))},
		{"1 MB of unclosed links", []byte(strings.Repeat("<a href=x><span>", 1<<20/16))},
		{"1 MB of formatting around blocks", []byte(strings.Repeat("<b><i><p>x", 1<<20/10))},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.page)))
			b.ReportAllocs()
			for b.Loop() {
				Read(bb.page, u, Markdown)
			}
		})
	}
}
