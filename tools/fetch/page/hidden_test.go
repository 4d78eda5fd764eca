package page

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func markdown(t *testing.T, source string) Page {
	t.Helper()
	base, err := url.Parse("https://example.org/a/")
	require.NoError(t, err)
	return Read([]byte(source), base, Markdown)
}

func TestWhatStylesHideIsGone(t *testing.T) {
	for _, hidden := range []string{
		`<p style="display:/**/none">S</p>`, `<p style="dis\70lay:none">S</p>`, `<p style="DISPLAY : NONE">S</p>`, `<p style="color:transparent">S</p>`,
		`<p style="color:white;background:white">S</p>`, `<p style="opacity:0.01">S</p>`, `<p style="height:0;overflow:hidden">S</p>`, `<p style="max-height:0px; overflow: hidden">S</p>`,
		`<p style="transform:scale(0)">S</p>`, `<p style="text-indent:-9999px">S</p>`, `<p style="clip-path:inset(100%)">S</p>`, `<p style="content-visibility:hidden">S</p>`,
		`<p style="font-size:1px">S</p>`, `<p style="font-size:0">S</p>`, `<p class="d-none">S</p>`, `<p class="hidden">S</p>`,
		`<style>.x{display:none}</style><p class="y x">S</p>`, `<style>/* a */ #off { position:absolute; left:-9999px }</style><p id=off>S</p>`, `<style>p{a:b}.x{clip:rect(0,0,0,0)}</style><p class=x>S</p>`,
	} {
		assert.NotContains(t, markdown(t, "<title>t</title><p>Some words to be read.</p>"+hidden).Text, "S\n", hidden)
		assert.NotContains(t, strings.Fields(markdown(t, "<title>t</title><p>Some words to be read.</p>"+hidden).Text), "S", hidden)
	}
	for _, seen := range []string{
		`<p style="font-size:1.5em">S</p>`, `<p style="font-size:0.9em">S</p>`, `<p style="opacity:0.9">S</p>`, `<p style="color:transparent;background-clip:text">S</p>`, `<p style="color:white;background:black">S</p>`,
		`<p class="hidden md:block">S</p>`, `<p class="d-none d-md-block">S</p>`, `<p style="height:100px;overflow:hidden">S</p>`,
		`<style>@media print{.x{display:none}}</style><p class=x>S</p>`, `<style>.js .x{display:none}</style><p class=x>S</p>`, `<style>.x{display:none}.x{display:block}</style><p class=x>S</p>`,
		`<style media=print>.x{display:none}</style><p class=x>S</p>`, `<div role=tabpanel style="display:none"><p>S and other words, for it is a part of the page</p></div>`,
	} {
		assert.Contains(t, strings.Fields(markdown(t, "<title>t</title><p>Some words to be read.</p>"+seen).Text), "S", seen)
	}
}

func TestTextCannotBecomeALink(t *testing.T) {
	for _, source := range []string{
		`<p><a href="/ok">z](http://evil.example/) x</a>`, `<p><img src=/p.png alt="a](http://evil.example/) b">`, `<p><a href=/ok><span>z]</span><span>(http://evil.example/)</span></a>`,
	} {
		text := markdown(t, source).Text
		assert.NotRegexp(t, `[^\\]\]\(http://evil`, text, source)
	}
}

func TestFormulas(t *testing.T) {
	assert.Equal(t, "1/2 √x x^2 a_i (a+b)/c", markdown(t, `<p><math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> <math><msqrt><mi>x</mi></msqrt></math> <math><msup><mi>x</mi><mn>2</mn></msup></math> <math><msub><mi>a</mi><mi>i</mi></msub></math> <math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac></math>`).Text)
	got := markdown(t, `<head><script src="https://cdn.example/mathjax@3/tex.js"></script></head><p>So \(a_{ij} * b^*\) and $$x_1 \\ z_1$$ but x*y*.`).Text
	assert.Contains(t, got, `\(a_{ij} * b^*\) and $$x_1 \\ z_1$$ but x\*y\*.`)
}

func TestCodeThatIsNoPre(t *testing.T) {
	assert.Equal(t, "```\npackage main\n\nfunc main() {}\n```", markdown(t, "<main><textarea class=\"Documentation-exampleCode code\">package main\n\nfunc main() {}</textarea></main>").Text)
	assert.NotContains(t, markdown(t, "<p>Write to us: <textarea name=m>your words</textarea>").Text, "your words")
	assert.Equal(t, "`line one line two`", markdown(t, "<p><code>line one<br>line two</code>").Text)
	assert.Contains(t, markdown(t, "<pre><code>struct A<div class=where>where A: X</div>{}</code></pre>").Text, "struct A\nwhere A: X\n{}")
}

func TestNavigationOfWholePages(t *testing.T) {
	words := strings.Repeat("These are words of the page itself. ", 20)
	text := markdown(t, "<body><nav><a href=/1>Nowhere</a></nav><div role=navigation>Aside</div><h1>X</h1><p>"+words+"</p><h2>Y</h2><p>"+words+"</p><footer>Foot</footer>").Text
	for _, s := range []string{"Nowhere", "Aside", "Foot"} {
		assert.NotContains(t, text, s)
	}
	assert.Contains(t, markdown(t, "<body><nav><a href=/1>Somewhere</a> <a href=/2>Elsewhere</a></nav>").Text, "Somewhere", "of an index it is the content")
}

func TestTheFootOfATableComesLast(t *testing.T) {
	text := markdown(t, "<table><tfoot><tr><td>total<td>9</tfoot><thead><tr><th>A<th>B</thead><tbody><tr><td>1<td>2</tbody></table>").Text
	assert.Equal(t, "| A | B |\n| --- | --- |\n| 1 | 2 |\n| total | 9 |", text)
}

func TestXHTMLThatClosesElementsInThemselves(t *testing.T) {
	source := `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title><script src="a.js"/></head><body><h1>Head</h1><p>Text <b/>not bold</p><p>next<br/>line</p></body></html>`
	base, _ := url.Parse("https://example.org/")
	assert.Equal(t, "# Head\n\nText not bold\n\nnext  \nline", Read(FromXHTML([]byte(source)), base, Markdown).Text)
}

func TestInvisibleCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"smile😀\U000E0100\U000E0101\U000E0102": "smile😀\U000E0100",
		"heart❤\uFE0F 1\uFE0F⃣":                "heart❤\uFE0F 1\uFE0F⃣",
		"a\uFE0Fb":                             "ab",
		"x\u206Ay\uFFF9z\u034Fw\u2800v":        "xyzwv",
		"a\u2028b\u2029c\rd\r\ne":              "a\nb\nc\nd\ne",
	} {
		assert.Equal(t, want, Visible(in), "%q", in)
	}
}

// TestHostilePagesTakeTimeInProportion: what took minutes once. The bound is only there
// to fail instead of hanging.
func TestHostilePagesTakeTimeInProportion(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement in which nothing runs at the same time: the race detector, for which -short stands, finds nothing in it")
	}
	for _, word := range []string{"[a", "*_`[", "![", "](", "\\", "&amp", "<b>", "$$", "a_"} {
		began := time.Now()
		markdown(t, "<!DOCTYPE html><title>t</title><p>"+strings.Repeat(word, 2_000_000/len(word)))
		assert.Less(t, time.Since(began), time.Minute, word)
	}
	deep := strings.Repeat("[", 9990) + strings.Repeat("]", 9990)
	_, fits, _ := IndentJSON([]byte(deep), "  ")
	assert.False(t, fits)
	wide := strings.Repeat("[", 90) + strings.Repeat("1,", 300_000) + "1" + strings.Repeat("]", 90)
	_, fits, _ = IndentJSON([]byte(wide), "  ")
	assert.False(t, fits)
	out, fits, err := IndentJSON([]byte(`{"a":[1,"[\"{"],"b":{}}`), "  ")
	require.NoError(t, err)
	assert.True(t, fits)
	assert.Equal(t, "{\n  \"a\": [\n    1,\n    \"[\\\"{\"\n  ],\n  \"b\": {}\n}", string(out))
}
