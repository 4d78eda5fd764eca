package notebook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseRefuses(t *testing.T) {
	tests := []struct{ why, text, want string }{
		{"empty", " \n", "not a notebook: the file is empty"},
		{"only a byte order mark", byteOrderMark, "not a notebook: the file is empty"},
		{"not JSON", "{\n\"cells\": [\n}", "not JSON: line 3: invalid character '}' looking for beginning of value"},
		{"CR only", "{\r\"cells\": [\r}", "not JSON: line 3: invalid character '}' looking for beginning of value"},
		{"cut off", "{\n\"cells\": [", "not JSON: line 2: unexpected end of JSON input"},
		{"merge conflict", "{\n \"cells\": [\n<<<<<<< HEAD\n", "not JSON: line 3: the mark of a merge conflict"},
		{"Python's NaN", "{\"cells\": [NaN]}", "not JSON: line 1: invalid character 'N' looking for beginning of value"},
		{"more after it", "{\"cells\": []}\n{}", "not JSON: line 2: invalid character '{' after top-level value"},
		{"too deep", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "not JSON: line 1: invalid character '[' exceeded max depth"},
		{"no object", "[1]", "not a notebook: the JSON is no object with the key \"cells\""},
		{"no cells", `{"nbformat": 4}`, "not a notebook: the JSON has no key \"cells\""},
		{"worksheets in nbformat 4", `{"worksheets": [], "nbformat": 4}`, "not a notebook: the JSON has no key \"cells\""},
		{"cells no list", "{\n\"cells\": {}}", "not a notebook: \"cells\" in line 2 is no list"},
		{"cells twice", "{\"cells\": [],\n\"c\\u0065lls\": []}", "the key \"cells\" stands twice in the notebook, again in line 2; which one counts is not defined"},
		{"not UTF-8", "{\"cells\": [],\n\"a\": \"\ufffd\xff\"}", "not a notebook: line 2 has bytes that are no UTF-8"},
		{"too many cells", `{"cells": [` + strings.Repeat("1,", MaxCells) + `1]}`, "the notebook has 100001 cells; more than 100000 are not supported"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			_, err := Parse(tt.text)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestCells(t *testing.T) {
	n := parse(t, load(t, "jupyter.ipynb"))
	cells := n.Cells()
	require.Len(t, cells, 8)
	require.Equal(t, Cell{
		Index: 1, ID: "a81b22fe", Type: "code", ExecutionCount: 1,
		Source:  "import pandas as pd\nfrom tqdm import tqdm\n\nfor i in tqdm(range(3)):\n    print(i)",
		Outputs: []string{"stderr", "stderr", "stdout"},
	}, cells[1])
	require.Equal(t, []string{"text/html, text/plain"}, cells[2].Outputs)
	require.Equal(t, []string{"error ZeroDivisionError"}, cells[4].Outputs)
	major, minor := n.Format()
	require.Equal(t, [2]int{4, 5}, [2]int{major, minor})

	odd := parse(t, `{"cells": [null, {"source": ["a", 1, "b"], "cell_type": 7, "execution_count": 1e99}, {"outputs": {}, "source": {"a": 1}}]}`).Cells()
	require.Equal(t, []Cell{{Index: 0}, {Index: 1, Source: "ab"}, {Index: 2}}, odd)
}

func TestLanguage(t *testing.T) {
	tests := map[string]string{
		`{}`:                                    "",
		`{"kernelspec": {"name": "python3"}}`:   "python",
		`{"kernelspec": {"name": "ir"}}`:        "r",
		`{"kernelspec": {"name": "julia-1.9"}}`: "julia",
		`{"kernelspec": {"name": "conda-env", "language": "Python"}}`:                        "python",
		`{"language_info": {"name": "scala"}, "kernelspec": {"language": "x", "name": "y"}}`: "scala",
		`{"kernelspec": null, "language_info": []}`:                                          "",
		`7`: "",
	}
	for metadata, want := range tests {
		require.Equal(t, want, parse(t, `{"cells": [], "metadata": `+metadata+`}`).Language(), metadata)
	}
	require.Empty(t, parse(t, `{"cells": [], "language_info": {"name": "x"}}`).Language())
}

func TestNames(t *testing.T) {
	n := parse(t, `{"cells": [
		{"id": "ab12cd34"}, {"id": "cell-0"}, {"id": "ab99"}, {}, {"id": "twin"}, {"id": "twin"}, {"id": "a b]\n"}, {}, {}, {}
	], "nbformat": 4, "nbformat_minor": 5}`)
	for name, want := range map[string]int{"ab12cd34": 0, "cell-1": 1, "cell-3": 3, "cell-4": 4, "a b]\n": 6} {
		i, err := n.find(name)
		require.NoError(t, err)
		require.Equal(t, want, i, name)
	}
	refused := map[string]string{
		"cell-0":   `"cell-0" is the id of the cell at place 1 and the place of another cell; name the first cell-1, or the other by its id`,
		"":         "the cell must be named: by its id, or cell-0 for the first",
		"twin":     `the id "twin" stands twice, at cell-4 and cell-5; name the cell cell-N`,
		"cell-10":  "there is no cell-10: the notebook has 10 cells, cell-0 to cell-9",
		"AB12CD35": `there is no cell "AB12CD35"; alike are cell-0 (id ab12cd34), …`,
		"cell-03":  `there is no cell "cell-03"; alike are cell-1 (id cell-0), …`,
		"3": `there is no cell "3"; a cell is named by its id or cell-N (from 0). The notebook has 10 cells, cell-0 to cell-9: ` +
			`cell-0 (id ab12cd34), cell-1 (id cell-0), cell-2 (id ab99), cell-3, cell-4 (id twin), cell-5 (id twin), cell-6 (id "a b]\n"), cell-7, …`,
	}
	for name, want := range refused {
		_, err := n.find(name)
		require.EqualError(t, err, want)
	}
	_, err := parse(t, `{"cells": []}`).Delete("x")
	require.EqualError(t, err, `there is no cell "x": the notebook has no cells`)
	_, err = parse(t, `{"cells": [{}]}`).Delete("cell-1")
	require.EqualError(t, err, `there is no cell-1: the notebook has one cell, cell-0`)
}

// TestLarge: what a hostile or merely large notebook costs grows with its size only.
func TestLarge(t *testing.T) {
	const size = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	output := func(data string) string {
		return `{"cells": [{"cell_type": "code", "source": "x", "outputs": [` + data + `]}], "nbformat": 4}`
	}
	tests := map[string]string{
		"an image":         output(`{"output_type": "display_data", "data": {"image/png": "` + fill("iVBORw0KGgo=") + `"}}`),
		"backslashes":      output(`{"output_type": "stream", "text": "` + fill(`\\\"`) + `"}`),
		"many outputs":     output(fill(`{"output_type":"stream","text":["a"]},`) + "0"),
		"many errors":      output(fill(`{"output_type":"error"},`) + "0"),
		"many forms":       output(`{"output_type": "display_data", "data": {` + fill(`"a":1,`) + `"a":1}}`),
		"open escapes":     output(`{"output_type": "stream", "text": "` + fill(`\u001b]`) + `"}`),
		"broken escapes":   output(`{"output_type": "stream", "text": "` + fill(`\u001b[1;1`) + `"}`),
		"returns":          output(`{"output_type": "stream", "text": "` + fill(`a\r\b`) + `"}`),
		"one line":         output(`{"output_type": "stream", "text": "` + fill(`é`) + `"}`),
		"lines":            output(`{"output_type": "stream", "text": [` + fill(`"a\n",`) + `""]}`),
		"a long source":    `{"cells": [{"cell_type": "code", "source": [` + fill(`"a\n",`) + `""]}], "nbformat": 4}`,
		"many attachments": `{"cells": [{"cell_type": "markdown", "attachments": {` + fill(`"a":{"image/png":"?"},`) + `"b":1}}], "nbformat": 4}`,
		"white space":      `{"cells": [` + fill(" ") + `{"cell_type":"code"` + fill("\n") + `}], "nbformat": 4}`,
		"many keys":        `{"cells": [{"cell_type": "code"}], ` + manyKeys(size) + `"nbformat": 4}`,
		"deep":             output(`{"a": ` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`),
		"many cells":       `{"cells": [` + strings.Repeat(`{"cell_type":"code","id":"abcdefgh"},`, MaxCells-1) + `{"cell_type":"code","id":"z"}], "nbformat": 4}`,
	}
	for why, text := range tests {
		t.Run(why, func(t *testing.T) {
			start := time.Now()
			n := parse(t, text)
			s := n.Show(ShowOptions{})
			require.LessOrEqual(t, len([]rune(s.Text)), defaultChars)
			last := fmt.Sprintf("cell-%d", n.Len()-1)
			for _, e := range []edit{{"replace", last, "é\n", Code}, {"insert", last, "é\n", Markdown}, {"delete", last, "", ""}, {"replace", "abcdefgi", "", ""}} {
				if out, err := e.run(n); err == nil {
					parse(t, out.Text)
				}
			}
			require.Less(t, time.Since(start), time.Minute)
			t.Log(time.Since(start))
		})
	}
}

func manyKeys(size int) string {
	var out strings.Builder
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, "\"k%d\":0,", i)
	}
	return out.String()
}
