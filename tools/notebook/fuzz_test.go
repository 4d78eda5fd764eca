package notebook

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// A messy writes notebooks that are valid JSON and little else: keys that stand twice
// or are spelled with escapes, values of the wrong kind, white space anywhere.
type messy struct {
	r   *rand.Rand
	out strings.Builder
}

func (m *messy) space() {
	if m.r.IntN(3) == 0 {
		m.out.WriteString([]string{" ", "\n", "\r\n", "\t", "\n  ", " \r "}[m.r.IntN(6)])
	}
}

func (m *messy) pick(from ...string) string { return from[m.r.IntN(len(from))] }

func (m *messy) object(depth int, keys ...string) {
	m.out.WriteByte('{')
	m.space()
	n := m.r.IntN(len(keys) + 1)
	for i, k := range m.r.Perm(len(keys))[:n] {
		if i > 0 {
			m.out.WriteByte(',')
			m.space()
		}
		key := keys[k]
		if m.r.IntN(40) == 0 {
			key = keys[m.r.IntN(len(keys))]
		}
		m.key(key)
		m.value(key, depth)
		m.space()
	}
	m.out.WriteByte('}')
}

func (m *messy) key(key string) {
	if m.r.IntN(20) == 0 {
		fmt.Fprintf(&m.out, `"\u%04x%s"`, key[0], key[1:])
	} else {
		fmt.Fprintf(&m.out, `"%s"`, key)
	}
	m.space()
	m.out.WriteByte(':')
	m.space()
}

func (m *messy) list(depth int, key string, most int) {
	m.out.WriteByte('[')
	m.space()
	for i := range m.r.IntN(most + 1) {
		if i > 0 {
			m.out.WriteByte(',')
			m.space()
		}
		m.value(key, depth)
		m.space()
	}
	m.out.WriteByte(']')
}

func (m *messy) string() {
	m.out.WriteByte('"')
	for range m.r.IntN(5) {
		m.out.WriteString(m.pick("a", `\n`, `\n`, `\"`, `\\`, `\ud800`, `\ud83d\ude00`, `\u00E9`, "é", `\/`, `\r\n`, `\u001b[1m`, `\b`, "x y", `\u001b]0;`, `cell-1`))
	}
	m.out.WriteByte('"')
}

func (m *messy) value(key string, depth int) {
	if depth > 6 || m.r.IntN(25) == 0 {
		m.out.WriteString(m.pick("null", "true", "0", "-1.5e3", "[]", "{}", `""`, `{ }`, "[\n]", `"x"`, "1e999", "[1,\"a\\n\"]"))
		return
	}
	switch key {
	case "cells":
		m.list(depth+1, "cell", 5)
	case "cell":
		m.object(depth+1, "cell_type", "source", "outputs", "metadata", "id", "execution_count", "attachments", "cell_type", "source")
	case "outputs":
		m.list(depth+1, "output", 4)
	case "output":
		m.object(depth+1, "output_type", "data", "text", "name", "ename", "evalue", "traceback")
	case "data":
		m.object(depth+1, "text/plain", "image/png", "text/html", "text/markdown")
	case "attachments", "metadata":
		m.object(depth+1, "data", "kernelspec", "language_info")
	case "cell_type":
		m.out.WriteString(m.pick(`"code"`, `"code"`, `"markdown"`, `"raw"`, `"co\u0064e"`, `"heading"`))
	case "output_type":
		m.out.WriteString(m.pick(`"stream"`, `"stream"`, `"error"`, `"display_data"`, `"execute_result"`, `"odd"`))
	case "id":
		m.out.WriteString(m.pick(`"a"`, `"b"`, `"cell-1"`, `"c c"`, `"d\n"`))
	case "image/png":
		m.out.WriteString(m.pick(`"iVBORw0KGgo="`, `"/9j/"`, `"iVBO"`, `["iVBORw0K\n","Ggo="]`, `"?"`))
	case "execution_count":
		m.out.WriteString(m.pick("1", "null", "2.0", `"3"`))
	case "source", "text", "text/plain", "traceback", "text/html", "text/markdown":
		if m.r.IntN(3) > 0 {
			m.list(depth+1, "line", 4)
			return
		}
		m.string()
	default:
		m.string()
	}
}

func newMessy(r *rand.Rand) string {
	m := &messy{r: r}
	if r.IntN(5) == 0 {
		m.out.WriteString(byteOrderMark)
	}
	m.space()
	m.out.WriteByte('{')
	m.space()
	m.key("cells")
	m.value("cells", 0)
	for _, rest := range []string{`"nbformat":4`, `"nbformat_minor":5`, `"metadata":{"kernelspec":{"name":"python3"}}`} {
		if r.IntN(5) > 0 {
			m.space()
			m.out.WriteString("," + rest)
		}
	}
	m.space()
	m.out.WriteByte('}')
	m.space()
	return m.out.String()
}

var (
	ops   = []string{"replace", "insert", "delete"}
	kinds = []string{"", Code, Markdown, Raw, "heading"}
)

// tryAll does all that can be done with a text, with the checks of the oracle.
func tryAll(t *testing.T, text, cell, source string, op, kind uint8) {
	e := edit{op: ops[int(op)%len(ops)], cell: cell, source: source, kind: kinds[int(kind)%len(kinds)]}
	check(t, text, e)
	checkShow(t, text, ShowOptions{})
	checkShow(t, text, ShowOptions{MaxChars: 1, Limit: 2, OutputLines: 2, OutputChars: 7})
	if n, err := Parse(text); err == nil {
		n.Language()
		n.Cells()
	}
}

func FuzzText(f *testing.F) {
	for i, name := range samples(f) {
		f.Add(load(f, name), "cell-1", "a\nb é", uint8(i), uint8(i/3))
		f.Add(compact(f, load(f, name)), "cell-0", "", uint8(i), uint8(i/3))
	}
	f.Fuzz(tryAll)
}

func FuzzMessy(f *testing.F) {
	for i := range uint64(50) {
		f.Add(i, i*i, "cell-0", "x = 1\n", uint8(i), uint8(i/3))
	}
	f.Fuzz(func(t *testing.T, a, b uint64, cell, source string, op, kind uint8) {
		tryAll(t, newMessy(rand.New(rand.NewPCG(a, b))), cell, source, op, kind)
	})
}

func TestMessy(t *testing.T) {
	for i := range uint64(*rounds) {
		r := rand.New(rand.NewPCG(i, uint64(*rounds)))
		text := newMessy(r)
		cell := []string{"", "cell-0", "cell-1", "cell-2", "cell-3", "a", "b"}[r.IntN(7)]
		source := []string{"", "a", "a\n", "é\r\nx", "\ufffd", "\x7f\n\n"}[r.IntN(6)]
		tryAll(t, text, cell, source, uint8(r.IntN(3)), uint8(r.IntN(5)))
	}
}

func FuzzStrings(f *testing.F) {
	f.Add(`"a\ud83d\ude00\ud83d\u0041\udc00\\\"\/\b\f\n\r\t\u00E9"`)
	f.Add(`"\ud83d\\"`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, ascii := range []bool{false, true} {
			raw := quoter{ascii}.quote(s)
			if !json.Valid([]byte(raw)) || utf8.ValidString(s) && unquote(raw) != s {
				t.Fatalf("%q is written %s", s, raw)
			}
		}
		var want string
		if json.Unmarshal([]byte(s), &want) == nil && utf8.ValidString(s) {
			if raw := strings.Trim(s, " \t\r\n"); raw[0] == '"' && unquote(raw) != want {
				t.Fatalf("%s is read %q, not %q", raw, unquote(raw), want)
			}
		}
	})
}

func FuzzClean(f *testing.F) {
	f.Add("a\rb\n\x1b[31mc\x1b[0m\x1b]0;t\ad\b\be", 3, 9)
	f.Fuzz(func(t *testing.T, s string, lines, chars int) {
		c := clean(s)
		if again := clean(c); again != c {
			t.Fatalf("%q, then %q", c, again)
		}
		lines, chars = 1+lines&0xff, 1+chars&0xfff
		short, isCut := cut(strings.TrimRight(c, "\n"), lines, chars)
		if !isCut && short != strings.TrimRight(c, "\n") {
			t.Fatalf("%q, %q", c, short)
		}
		if n := len([]rune(short)); n > chars+80 || strings.Count(short, "\n") > lines+2 {
			t.Fatalf("%d lines, %d characters: %q", lines, chars, short)
		}
	})
}
