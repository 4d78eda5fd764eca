package page

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPageCannotGrow(t *testing.T) {
	for why, source := range map[string]string{
		"quotations":        strings.Repeat("<blockquote>", 400) + strings.Repeat("x<br>", 20000),
		"lists":             strings.Repeat("<ul><li>", 200) + strings.Repeat("<p>x", 20000),
		"terms":             strings.Repeat("<dl><dd>", 200) + strings.Repeat("<p>x", 20000),
		"cells over rows":   "<table><tr><td>a<td rowspan=60>" + strings.Repeat("x", 100_000) + strings.Repeat("<tr><td>b", 60),
		"cells over both":   "<table>" + strings.Repeat("<tr><td colspan=60 rowspan=60>x<td>y", 3000),
		"links of one base": "<base href='https://example.org/" + strings.Repeat("a", 3000) + "/'>" + strings.Repeat("<a href=x>y</a> ", 5000),
	} {
		for _, format := range []Format{Markdown, Text} {
			p := Read([]byte(source), example, format)
			assert.Less(t, len(p.Text), 60*len(source)+10_000_000, why)
		}
	}
}

func TestAPageOfTooManyElementsIsCut(t *testing.T) {
	p := Read([]byte("<p>begin"+strings.Repeat("<i>x</i>", maxTags)), example, Markdown)
	require.True(t, strings.HasPrefix(p.Text, "begin"))
	require.Contains(t, p.Notes[0], "more than 300000 elements: only its beginning is here, 1171 of 2343 KB")
}

func TestAPageTooDeepIsBareText(t *testing.T) {
	p := Read([]byte("<title>T</title><script>no</script>"+strings.Repeat("<div>", 1000)+"<p>one</p><p>two &amp; three"), example, Markdown)
	require.Equal(t, "T", p.Title)
	require.Equal(t, "one\ntwo & three", p.Text)
	require.Contains(t, p.Notes[0], "nested too deeply")
}
