package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// fill repeats part up to n bytes; "%d" in it becomes a number.
func fill(n int, part string) string {
	if !strings.Contains(part, "%d") {
		return strings.Repeat(part, n/len(part))
	}
	var out strings.Builder
	for i := 0; out.Len() < n-len(part)-8; i++ {
		fmt.Fprintf(&out, part, i)
	}
	return out.String()
}

// hard holds, by name, beginnings and what they go on with until the bound:
// plain texts, and those made to nest, to collect errors or to be read again
// and again.
var hard = map[string][][2]string{
	"a.json":  {{"[1", `,{"key": "value"}`}, {"", "["}, {"", `{"":`}, {`"`, `\"`}, {"", " "}, {"[", "1,"}},
	"a.jsonl": {{"", "{\"key\": 1}\n"}, {"", "1\n"}, {"", "[[[[\n"}, {"", "\n"}},
	"a.jsonc": {{"[1", ",{}"}, {"", "["}, {"", "//\n"}, {"", "/*"}, {"", "/**/"}, {"[", "1,"}, {"[1", ", }"}, {`["`, `\"`}, {`["`, "\n\""}},
	"a.yaml": {{"", "key%d: value\n"}, {"", "- a: 1\n  b: [1, 2]\n"}, {"", "["}, {"", "{a: "}, {"", "- "}, {"", "? "}, {"", "---\n"},
		{"", "a: 1\n---\n"}, {"[", "a, "}, {"a: |\n", "\n"}, {"a: \"", "x\n"}, {"a: [", "\n"}, {"- &a x\n", "- *a\n"},
		{"a: &a [x]\n", "a%d: &a [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"}, {"", "!a "}, {"", "&a "}, {"", "\t"}, {"a: ]\n", "k: v\n"}, {"", "'a': \"b\"\n"}},
	"a.toml": {{"", "key%d = 1\n"}, {"", "[a%d]\nb = 1\n"}, {"a = ", "["}, {"a", ".a"}, {"", "[[a]]\n"}, {"a = [", "1,"}, {"a = {", "a%d=1,"}, {"[a", ".a"}, {"a = '''", "x\n"}},
	"a.xml": {{"<a>", "<b c='d'>e</b>"}, {"", "<a>"}, {"<a ", "b='' "}, {"<a ", "b%d='' "}, {"<a>", "&lt;"}, {"<a>", "&b;"}, {"<!--", "- "}, {"", "<!---->"},
		{"<!DOCTYPE a [", "<!ENTITY b%d '&b;'>"}, {"<!DOCTYPE a [", "<"}, {"", "<!DOCTYPE a SYSTEM 'b'>"}, {"", "<?a?>"}, {"<a>", "<![CDATA[]]>"}},
	"a.go": {{"package a\n", "var x%d = f(1)\n"}, {"package a\nvar a = ", "("}, {"package a\n", "@"}, {"package a\n", "}\n"}, {"package a\nvar a = 1", "+1"},
		{"package a\nfunc f() {", "if a {"}, {"package a\nfunc f() {", "func(){"}, {"package a\n", "//\n"}, {"package a\ntype a ", "[]"}, {"package a\nvar a = \"", "\n\""}},
	"a.sh": {{"", "echo hello $world\n"}, {"", "("}, {"", "if "}, {"", "$("}, {"", "! "}, {"", "a|"}, {"", "a&&"}, {"$((", "1+"}, {"$((", "- "}, {"$((", "1?"},
		{"[[ ", "! "}, {"[[ ", "a && "}, {"", "`"}, {"", `"$(`}, {"", "a <<E "}, {"", "{ "}, {"", "f() "}, {"", "time "}, {"", "a() {\n"},
		{"", "case a in a) "}, {"", "$[ "}, {"", "cat <<-E\n\tx\n\tE\n"}, {"", "${a:-"}, {"", "<("}, {"", "if a; then b; else "}, {"if a; then b\n", "elif a; then b\n"},
		{"'", "a\n"}, {"((a", "**a"}, {"", "while "}, {"a=(", "[a]="}},
	"a.ksh": {{"", "("}, {"", "$[ "}, {"", "a|"}},
}

// hardTexts calls do with each of them, as long as is judged divided by part.
func hardTexts(part int, do func(name, label, text string)) {
	for name, parts := range hard {
		limit := languageOf(name, "").limit / part
		for _, p := range parts {
			do(name, p[0]+p[1], p[0]+fill(limit-len(p[0]), p[1]))
		}
	}
}

// TestHardTexts must end, and not by ending the process.
func TestHardTexts(t *testing.T) {
	hardTexts(32, func(name, label, text string) {
		t.Run(name+" "+strconv.Quote(label), func(t *testing.T) {
			err, _ := Check(name, text)
			assertSane(t, text, err)
		})
	})
}

// BenchmarkHardTexts tells, with -benchtime 1x, the longest that Check takes.
func BenchmarkHardTexts(b *testing.B) {
	hardTexts(1, func(name, label, text string) {
		b.Run(name+" "+strconv.Quote(label), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Check(name, text)
			}
		})
	})
}

func TestDeepNestingIsNotJudged(t *testing.T) {
	for name, part := range map[string]string{"a.yaml": "- ", "b.yaml": "[", "a.sh": "(", "b.sh": "if ", "c.sh": "$(", "d.ksh": "{ "} {
		err, known := Check(name, strings.Repeat(part, 100_000))
		assert.False(t, known, name)
		assert.Nil(t, err, name)
	}
}

func TestUsualNestingIsJudged(t *testing.T) {
	const n = 100
	for _, text := range []string{
		strings.Repeat("if a; then\n", n) + "b\n" + strings.Repeat("fi\n", n),
		strings.Repeat("( ", n) + "b" + strings.Repeat(" )", n),
		"a \"" + strings.Repeat("$(b \"", n) + strings.Repeat("\")", n) + "\"",
		"if a; then b\n" + strings.Repeat("elif a; then b\n", 20*n) + "fi\n",
		strings.Repeat("a && ", 100*n) + "b",
	} {
		err, known := Check("a.sh", text+strings.Repeat("\n# end", 1000))
		assert.True(t, known)
		assert.Nil(t, err)
	}
}
