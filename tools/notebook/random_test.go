package notebook

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rounds = flag.Int("rounds", 600, "how many random notebooks to try; another number gives others")

// The printer writes JSON as one tool or another does, so that an edit can be compared
// with what that tool would have written, byte for byte.
type printer struct {
	indent, ending string // ending "": all in one line
	colon, comma   string
	ascii          bool
}

type pair struct {
	key   string
	value any
}

type pairs []pair

func (o pairs) get(key string) any {
	for _, p := range o {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

func (o pairs) with(key string, value any) pairs {
	o = slices.Clone(o)
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	o = append(o, pair{key, value})
	sort.SliceStable(o, func(a, b int) bool { return o[a].key < o[b].key })
	return o
}

func (o pairs) without(keys ...string) pairs {
	return slices.DeleteFunc(slices.Clone(o), func(p pair) bool { return slices.Contains(keys, p.key) })
}

func (p printer) print(v any, depth int) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case int:
		return fmt.Sprint(v)
	case string:
		return p.quote(v)
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, p.print(e, depth+1))
		}
		return p.join("[", "]", parts, depth)
	case pairs:
		var parts []string
		for _, m := range v {
			parts = append(parts, p.quote(m.key)+p.colon+p.print(m.value, depth+1))
		}
		return p.join("{", "}", parts, depth)
	}
	panic(fmt.Sprintf("%T", v))
}

func (p printer) join(open, end string, parts []string, depth int) string {
	switch {
	case len(parts) == 0:
		return open + end
	case p.ending == "":
		return open + strings.Join(parts, p.comma) + end
	}
	inner := p.ending + strings.Repeat(p.indent, depth+1)
	return open + inner + strings.Join(parts, ","+inner) + p.ending + strings.Repeat(p.indent, depth) + end
}

func (p printer) quote(s string) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	q := strings.TrimSuffix(out.String(), "\n")
	q = strings.ReplaceAll(strings.ReplaceAll(q, `\u2028`, "\u2028"), `\u2029`, "\u2029")
	if !p.ascii {
		return q
	}
	out.Reset()
	for _, r := range q {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

var printers = []printer{
	{indent: " ", ending: "\n", colon: ": "},
	{indent: "  ", ending: "\n", colon: ": "},
	{indent: "    ", ending: "\r\n", colon: ": "},
	{indent: "\t", ending: "\n", colon: ": "},
	{indent: "", ending: "\n", colon: ": "},
	{colon: ":", comma: ","},
	{colon: ": ", comma: ", "},
	{indent: " ", ending: "\n", colon: " : "},
}

var words = []string{"x", " = ", "1", "\n", "\n", "\"", "\\", "\t", "é", "😀", "</b>", "\u2028", "\x1b[31m", "\\n", "'", "print()", "\\u00e9", "\b", "#"}

func text(r *rand.Rand, most int, ending string) string {
	var out strings.Builder
	for range r.IntN(most + 1) {
		out.WriteString(words[r.IntN(len(words))])
	}
	return strings.ReplaceAll(out.String(), "\n", ending)
}

// A draft is a random notebook and how it is written.
type draft struct {
	printer
	top     pairs
	asText  bool   // sources are single strings
	breaks  string // line ends of sources
	bom     string
	tail    string
	ids     bool
	nonASCI bool
}

func (d *draft) String() string { return d.bom + d.print(d.top, 0) + d.tail }

func (d *draft) source(s string) any {
	if d.asText {
		return s
	}
	return sourceLike(nil, s)
}

func (d *draft) cell(r *rand.Rand, i int) pairs {
	kind := []string{Code, Markdown, Raw}[r.IntN(3)]
	c := pairs{{"cell_type", kind}, {"metadata", pairs{}}, {"source", d.source(text(r, 12, d.breaks))}}
	if r.IntN(3) == 0 {
		c = c.with("metadata", pairs{{"tags", []any{"a", text(r, 3, "\n")}}, {"n", i}})
	}
	if d.ids {
		c = c.with("id", fmt.Sprintf("id%d", i))
	}
	if kind == Code {
		c = c.with("execution_count", nil).with("outputs", []any{})
		for range r.IntN(3) {
			c = c.with("execution_count", r.IntN(9)).with("outputs", []any{pairs{
				{"name", "stdout"}, {"output_type", "stream"}, {"text", d.source(text(r, 9, "\n"))}}})
		}
	} else if r.IntN(4) == 0 {
		c = c.with("attachments", pairs{{"a.png", pairs{{"image/png", "iVBORw0KGgo="}}}})
	}
	return c
}

func newDraft(r *rand.Rand) *draft {
	d := &draft{printer: printers[r.IntN(len(printers))], asText: r.IntN(4) == 0, ids: r.IntN(2) == 0, breaks: "\n"}
	if r.IntN(5) == 0 {
		d.breaks = "\r\n"
	}
	d.ascii = r.IntN(2) == 0
	d.bom = []string{"", "", byteOrderMark}[r.IntN(3)]
	d.tail = []string{"", "\n", "\r\n", "\n\n "}[r.IntN(4)]
	cells := []any{}
	for i := range r.IntN(6) {
		cells = append(cells, d.cell(r, i))
	}
	minor := 4
	if d.ids {
		minor = 5
	}
	d.top = pairs{{"cells", cells}, {"metadata", pairs{{"name", text(r, 3, "\n")}}}, {"nbformat", 4}, {"nbformat_minor", minor}}
	return d
}

func randomEdit(r *rand.Rand, d *draft) (e edit, i int) {
	cells := d.top.get("cells").([]any)
	e = edit{op: []string{"replace", "insert", "delete"}[r.IntN(3)], source: text(r, 12, "\n")}
	e.kind = []string{Code, Markdown, Raw}[r.IntN(3)]
	if e.op == "replace" && r.IntN(2) == 0 {
		e.kind = ""
	}
	if len(cells) == 0 {
		return edit{op: "insert", source: e.source, kind: Code}, 0
	}
	i = r.IntN(len(cells))
	e.cell = fmt.Sprintf("cell-%d", i)
	if d.ids && r.IntN(2) == 0 {
		e.cell = cells[i].(pairs).get("id").(string)
	}
	if e.op == "insert" {
		if i++; r.IntN(4) == 0 {
			e.cell, i = "", 0
		}
	}
	return e, i
}

// apply is the edit done to the draft. Drafts have their keys in order, so a tool that
// writes the whole notebook anew would write this.
func (d *draft) apply(e edit, i int, id string) *draft {
	next := *d
	cells := slices.Clone(d.top.get("cells").([]any))
	switch e.op {
	case "delete":
		cells = slices.Delete(cells, i, i+1)
	case "insert":
		breaks := "\n"
		like := nearestSource(cells, i, e.kind)
		if likeOld(like, "\n") == "\r\n" {
			breaks = "\r\n"
		}
		c := pairs{{"cell_type", e.kind}, {"metadata", pairs{}}}
		next.asText = d.asText && len(cells) > 0 // there was nothing to go by
		c = c.with("source", next.source(strings.ReplaceAll(e.source, "\n", breaks)))
		if e.kind == Code {
			c = c.with("outputs", []any{}).with("execution_count", nil)
		}
		if d.ids {
			c = c.with("id", id)
		}
		cells = slices.Insert(cells, i, any(c))
	case "replace":
		cells[i] = d.replace(cells[i].(pairs), e)
	}
	next.top = d.top.with("cells", cells)
	return &next
}

func (d *draft) replace(c pairs, e edit) pairs {
	old := c.get("cell_type").(string)
	kind := e.kind
	if kind == "" {
		kind = old
	}
	c = c.with("source", d.source(likeOld(plainSource(c.get("source")), e.source))).with("cell_type", kind)
	if kind == Code {
		return c.with("outputs", []any{}).with("execution_count", nil).without(map[bool]string{true: "attachments"}[kind != old])
	}
	return c.without("outputs", "execution_count")
}

// nearestSource is the source of the cell whose style a new one takes.
func nearestSource(cells []any, i int, kind string) string {
	best, distance := "", 1<<30
	for k, c := range cells {
		d := (i - 1 - k) * 4
		if d < 0 {
			d = -d + 1
		}
		if c.(pairs).get("cell_type") != kind {
			d += 1 << 20
		}
		if d < distance {
			best, distance = plainSource(c.(pairs).get("source")), d
		}
	}
	return best
}

var escaped = regexp.MustCompile(`\\u(00e9|2028|d83d)`)

// TestRandomEdits compares edits with the same done to a model of the notebook that is
// then written anew by the tool that wrote the notebook.
func TestRandomEdits(t *testing.T) {
	for i := range *rounds {
		r := rand.New(rand.NewPCG(uint64(i), uint64(*rounds)))
		d := newDraft(r)
		for range 4 {
			before := d.String()
			e, at := randomEdit(r, d)
			out, ok := check(t, before, e)
			if !ok {
				continue
			}
			require.Equal(t, at, out.Index)
			d = d.apply(e, at, out.Name)
			p := *d
			if !escaped.MatchString(strings.ReplaceAll(before, `\\`, "")) {
				p.ascii = false // nothing shows that the file is ASCII on purpose
			}
			require.Equal(t, p.String(), out.Text, "round %d: %+v in\n%s", i, e, before)
			d = &p
			checkShow(t, out.Text, ShowOptions{MaxChars: 1000, OutputLines: 3, OutputChars: 20})
		}
	}
}
