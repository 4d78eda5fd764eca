package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// An edit is one call, to be made by the package and by the oracle.
type edit struct {
	op                 string // replace, insert, delete
	cell, source, kind string
}

func (e edit) run(n *Notebook) (Edited, error) {
	switch e.op {
	case "replace":
		return n.Replace(e.cell, e.source, e.kind)
	case "insert":
		return n.Insert(e.cell, e.source, e.kind)
	}
	return n.Delete(e.cell)
}

// decode reads a notebook the slow way.
func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(strings.TrimPrefix(text, byteOrderMark)))
	d.UseNumber()
	var v map[string]any
	require.NoError(t, d.Decode(&v), "%q", text)
	return v
}

func plainSource(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var out strings.Builder
		for _, line := range v {
			s, _ := line.(string)
			out.WriteString(s)
		}
		return out.String()
	}
	return ""
}

// sourceLike is source in the form that like has.
func sourceLike(like any, source string) any {
	if _, ok := like.(string); ok {
		return source
	}
	out := []any{}
	for line := range strings.Lines(source) {
		out = append(out, line)
	}
	return out
}

// expect is the notebook after an edit of the cell of index i, by its maps.
func expect(nb map[string]any, e edit, i int, got map[string]any) map[string]any {
	nb = maps.Clone(nb)
	cells := nb["cells"].([]any)
	var out []any
	switch e.op {
	case "replace":
		out = append(append(out, cells...), nil)[:len(cells)]
		out[i] = expectCell(cells[i].(map[string]any), e)
	case "delete":
		out = append(append(out, cells[:i]...), cells[i+1:]...)
	case "insert":
		// The form of the source and the id are not for the oracle to know.
		made := got["cells"].([]any)[i].(map[string]any)
		cell := map[string]any{"cell_type": e.kind, "metadata": map[string]any{}, "source": made["source"]}
		if e.kind == Code {
			cell["execution_count"], cell["outputs"] = nil, []any{}
		}
		if id, ok := made["id"]; ok {
			cell["id"] = id
		}
		out = append(append(append(out, cells[:i]...), cell), cells[i:]...)
	}
	if out == nil {
		out = []any{}
	}
	nb["cells"] = out
	return nb
}

func expectCell(cell map[string]any, e edit) map[string]any {
	cell = maps.Clone(cell)
	old := cell["source"]
	if source := likeOld(plainSource(old), e.source); source != plainSource(old) {
		cell["source"] = sourceLike(old, source)
	} else if _, ok := cell["source"]; !ok {
		cell["source"] = []any{}
	}
	kind, _ := cell["cell_type"].(string)
	changed := e.kind != "" && e.kind != kind
	if changed {
		cell["cell_type"] = e.kind
		kind = e.kind
		delete(cell, "outputs")
		delete(cell, "execution_count")
		if kind == Code {
			cell["outputs"], cell["execution_count"] = []any{}, nil
			delete(cell, "attachments")
		}
	} else if kind == Code {
		if _, ok := cell["outputs"]; ok {
			cell["outputs"] = []any{}
		}
		if _, ok := cell["execution_count"]; ok {
			cell["execution_count"] = nil
		}
	}
	return cell
}

// check makes an edit and compares all that can be said of the result.
func check(t testing.TB, text string, e edit) (Edited, bool) {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		return Edited{}, false
	}
	out, err := e.run(n)
	if err != nil {
		require.Empty(t, out.Text)
		if errors.Is(err, ErrNoChange) {
			i, err := n.find(e.cell)
			require.NoError(t, err)
			require.Equal(t, n.Cells()[i].Source, likeOld(n.Cells()[i].Source, e.source))
		}
		return Edited{}, false
	}
	require.True(t, utf8.ValidString(out.Text))
	require.NotEqual(t, text, out.Text)
	again := parse(t, out.Text)
	got := decode(t, out.Text)
	require.Equal(t, expect(decode(t, text), e, out.Index, got), got, "%+v\n%q\n%q", e, text, out.Text)
	checkBytes(t, n, again, e, out)
	return out, true
}

// checkBytes: all outside of the cell is what it was.
func checkBytes(t testing.TB, n, again *Notebook, e edit, out Edited) {
	t.Helper()
	i, text := out.Index, n.text
	switch e.op {
	case "replace":
		old, now := n.cells[i], again.cells[i]
		require.Equal(t, text[:old.start], out.Text[:now.start])
		require.Equal(t, text[old.end:], out.Text[now.end:])
		checkMembers(t, parseObject(text, old.span), parseObject(out.Text, now.span))
		require.Equal(t, likeOld(textOf(text, old.source), e.source), textOf(out.Text, now.source))
	case "insert":
		source := textOf(out.Text, again.cells[i].source)
		require.Equal(t, strings.ReplaceAll(e.source, "\r\n", "\n"), strings.ReplaceAll(source, "\r\n", "\n"))
		if at, err := again.find(out.Name); err != nil || at != i {
			require.Empty(t, again.cells[i].id) // an id that looks like an index wins
			require.Contains(t, n.text, out.Name)
			return
		}
		back, err := again.Delete(out.Name)
		require.NoError(t, err)
		want := text
		if len(n.cells) == 0 {
			want = text[:n.list.start] + "[]" + text[n.list.end:]
		}
		require.Equal(t, want, back.Text)
	case "delete":
		start := commonPrefix(text, out.Text)
		gone := text[start : start+len(text)-len(out.Text)]
		require.Equal(t, text[:start]+text[start+len(gone):], out.Text)
		// The cut may be found some bytes early, where what follows is alike.
		require.LessOrEqual(t, len(strings.Join(strings.Fields(gone), "")), len(strings.Join(strings.Fields(n.cells[i].in(text)), ""))+1)
	}
}

// checkMembers: all members of the cell but those of the edit are what they were, and
// in the order they were in.
func checkMembers(t testing.TB, old, now *object) {
	t.Helper()
	skip := map[string]bool{"source": true, "cell_type": true, "outputs": true, "execution_count": true, "attachments": true}
	keep := func(o *object) (out []string) {
		for _, m := range o.members {
			if !skip[m.name] {
				out = append(out, m.key+m.colon+m.value)
			}
		}
		return out
	}
	require.Equal(t, keep(old), keep(now))
}

func commonPrefix(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// checkShow: whatever the notebook, a page keeps what it promises, and all pages
// together have every cell once.
func checkShow(t testing.TB, text string, o ShowOptions) {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		return
	}
	o.Offset = 0
	for pages := 0; ; pages++ {
		s := n.Show(o)
		require.LessOrEqual(t, utf8.RuneCountInString(s.Text), max(o.filled(0).MaxChars, leastChars))
		require.LessOrEqual(t, len(s.Images), MaxImages)
		require.True(t, utf8.ValidString(s.Text))
		for i, image := range s.Images {
			require.LessOrEqual(t, len(image.Data), MaxImageBytes)
			require.Equal(t, image.MIMEType, imageKind(image.Data))
			require.Contains(t, s.Text, "image "+string(rune('1'+i)))
		}
		if s.Next < 0 {
			require.Equal(t, n.Len()-1, s.Last)
			return
		}
		require.Equal(t, s.Last+1, s.Next)
		require.GreaterOrEqual(t, s.Last, s.First)
		o.Offset = s.Next
	}
}

// compact is JSON without white space between its parts.
func compact(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.Compact(&out, []byte(strings.TrimPrefix(text, byteOrderMark))))
	return out.String()
}
