package notebook

import (
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew; read them before believing them")

func load(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(b)
}

func parse(t testing.TB, text string) *Notebook {
	t.Helper()
	n, err := Parse(text)
	require.NoError(t, err)
	return n
}

func samples(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.ipynb")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for i, p := range paths {
		paths[i] = filepath.Base(p)
	}
	return paths
}

func TestShowGolden(t *testing.T) {
	for _, name := range samples(t) {
		t.Run(name, func(t *testing.T) {
			s := parse(t, load(t, name)).Show(ShowOptions{})
			got := s.Text + "\n"
			golden := filepath.Join("testdata", strings.TrimSuffix(name, ".ipynb")+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
			require.Empty(t, s.Note)
			require.Equal(t, -1, s.Next)
		})
	}
}

// build is a notebook with these cells.
func build(cells ...string) string {
	return `{"cells": [` + strings.Join(cells, ",") + `], "nbformat": 4, "nbformat_minor": 5}`
}

func codeCell(source string, outputs ...string) string {
	return fmt.Sprintf(`{"cell_type": "code", "source": %s, "outputs": [%s]}`, quoter{}.quote(source), strings.Join(outputs, ","))
}

func stream(name, text string) string {
	return fmt.Sprintf(`{"output_type": "stream", "name": %s, "text": %s}`, quoter{}.quote(name), quoter{}.quote(text))
}

func display(mime, value string) string {
	return fmt.Sprintf(`{"output_type": "display_data", "data": {%s: %s}}`, quoter{}.quote(mime), quoter{}.quote(value))
}

func png(size int) string {
	data := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, size-8)...)
	return `{"output_type": "display_data", "data": {"image/png": "` + base64.StdEncoding.EncodeToString(data) + `\n"}}`
}

func TestShowPages(t *testing.T) {
	var cells []string
	for i := range 10 {
		cells = append(cells, codeCell(fmt.Sprintf("%d%s", i, strings.Repeat("x", 300))))
	}
	n := parse(t, build(cells...))
	s := n.Show(ShowOptions{MaxChars: 1000})
	require.Equal(t, [...]int{0, 2, 3, 10}, [...]int{s.First, s.Last, s.Next, s.Total})
	require.Equal(t, "Cells 0-2 of 10 (from 0). Continue with offset=3.", s.Note)
	require.Equal(t, 3, strings.Count(s.Text, "[cell-"))

	s = n.Show(ShowOptions{Offset: 4, Limit: 2})
	require.Equal(t, "Cells 4-5 of 10 (from 0). Continue with offset=6.", s.Note)
	s = n.Show(ShowOptions{Offset: -2})
	require.Equal(t, "Cells 8-9 of 10 (from 0).", s.Note)
	require.True(t, strings.HasPrefix(s.Text, "[cell-8 code]\n8xxx"))
	s = n.Show(ShowOptions{Offset: -2000, Limit: 1})
	require.Equal(t, 0, s.Last)
	s = n.Show(ShowOptions{Offset: 10})
	require.Equal(t, "There is no cell-10: the notebook has 10 cells.", s.Note)
	require.Empty(t, s.Text)
	require.Equal(t, -1, s.Next)

	s = parse(t, build()).Show(ShowOptions{})
	require.Equal(t, "(the notebook has no cells)", s.Text)
	require.Empty(t, s.Note)
}

// TestShowOversize: a cell that is larger than a page is cut rather than left out.
func TestShowOversize(t *testing.T) {
	n := parse(t, build(
		codeCell("a"),
		codeCell("first\n"+strings.Repeat("0123456789\n", 200)+"last", stream("stdout", "out"), stream("stderr", "err")),
		codeCell("b", stream("stdout", strings.Repeat("y", 700)), stream("stderr", strings.Repeat("z", 700)), png(20)),
	))
	s := n.Show(ShowOptions{MaxChars: 1000})
	require.Equal(t, 0, s.Last)
	s = n.Show(ShowOptions{Offset: 1, MaxChars: 1000})
	require.Equal(t, []int{1}, s.Cut)
	require.Regexp(t, `(?s)^\[cell-1 code\]\nfirst\n0123456789\n.*\d\n\[… 1424 characters in 129 lines cut …\]\n\d.*\nlast\n\[2 more outputs not shown: the page is full\]$`, s.Text)
	s = n.Show(ShowOptions{Offset: 2, MaxChars: 1000})
	require.Empty(t, s.Cut)
	require.Empty(t, s.Images)
	require.Equal(t, "[cell-2 code]\nb\n[stdout]\n"+strings.Repeat("y", 700)+"\n[2 more outputs not shown: the page is full]", s.Text)
}

func TestShowOutputs(t *testing.T) {
	numbers := ""
	for i := range 300 {
		numbers += fmt.Sprintln(i)
	}
	tests := []struct{ why, output, want string }{
		{"no object", `7`, "[output: no object in the JSON of the notebook]"},
		{"an unknown type", `{"output_type": "update\n"}`, `[output of the unknown type "update\n"]`},
		{"a stream without text", `{"output_type": "stream"}`, "[stdout]"},
		{"a stream's odd name", stream("a]\n[cell-9", "x"), "[\"a]\\n[cell-9\"]\nx"},
		{"an error with nothing", `{"output_type": "error"}`, "[error]\n: "},
		{"a traceback that is a string", `{"output_type": "error", "ename": "E", "evalue": "v", "traceback": "a\u001b[0m"}`, "[error]\nE: v\na"},
		{"JSON", `{"output_type": "execute_result", "data": {"application/json": [1, 2], "text/plain": ["a\n", "b"]}}`, "[result]\na\nb\n[application/json, 6 bytes]"},
		{"HTML in lines", display("text/html", strings.Repeat("é", 2000)), "[display]\n[text/html, 3.9 KB]"},
		{"an odd mime type", display("a b\n", "x"), "[display]\n[\"a b\\n\", 1 byte]"},
		{"an empty image", display("image/png", ""), "[display]\n[image/png, 0 bytes: not shown, the bytes are neither PNG nor JPEG]"},
		{"a large image", png(MaxImageBytes + 1), "[display]\n[image/png, 5.0 MB: not shown, larger than 5.0 MB]"},
		{"a huge image", png(2*MaxImageBytes + 99), "[display]\n[image/png, about 10 MB: not shown, larger than 5.0 MB]"},
		{"many lines", stream("stdout", numbers), "[stdout]\n0\n1\n2\n[… 1068 characters in 293 lines cut …]\n296\n297\n298\n299"},
		{"a long line", stream("stdout", strings.Repeat("é", 999)+"end"), "[stdout]\n" + strings.Repeat("é", 50) + "\n[… 902 characters cut …]\n" + strings.Repeat("é", 47) + "end"},
		{"many forms", `{"output_type": "display_data", "data": {` + strings.Repeat(`"a":1,`, 29) + `"a":1}}`, "[display]\n" + strings.Repeat("[a, 1 byte]\n", 20) + "[10 more forms]"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			s := parse(t, build(codeCell("x", tt.output))).Show(ShowOptions{OutputLines: 7, OutputChars: 100})
			require.Equal(t, "[cell-0 code]\nx\n"+tt.want, s.Text)
			require.Empty(t, s.Images)
		})
	}
}

func TestShowHeaders(t *testing.T) {
	tests := map[string]string{
		`null`: "[cell-0: no object in the JSON of the notebook]",
		`{}`:   "[cell-0 without cell_type]",
		`{"cell_type": "heading 1", "id": "a]b"}`:                                               `[cell-0 id="a]b" "heading 1"]`,
		`{"cell_type": "code", "execution_count": 12, "id": "` + strings.Repeat("a", 70) + `"}`: `[cell-0 id="` + strings.Repeat("a", 64) + `…" code In[12]]`,
		`{"cell_type": "raw", "source": ["a\r\n", "\u001b\ud800"]}`:                             "[cell-0 raw]\na\n\x1b\ufffd",
	}
	for cell, want := range tests {
		require.Equal(t, want, parse(t, build(cell)).Show(ShowOptions{}).Text, cell)
	}
}

func TestShowImages(t *testing.T) {
	five := codeCell("x", png(100), png(101), png(102), png(103), png(104))
	jpeg := codeCell("y", display("image/png", base64.RawStdEncoding.EncodeToString([]byte("\xff\xd8\xff\xe0 but said to be PNG"))))
	n := parse(t, build(jpeg, five, five))
	s := n.Show(ShowOptions{})
	require.Len(t, s.Images, MaxImages)
	require.Equal(t, "image/jpeg", s.Images[0].MIMEType)
	require.Len(t, s.Images[2].Data, 101)
	require.Equal(t, 2, s.Images[7].Cell)
	require.Contains(t, s.Text, "[image/png, 23 bytes, image 1]\n")
	require.Contains(t, s.Text, "[image/png, 101 bytes, image 8]\n[display]\n[image/png, about 105 bytes: not shown, a page has 8 images; offset=2 shows it]")
	require.Len(t, n.Show(ShowOptions{Offset: 2}).Images, 5)
}

func TestClean(t *testing.T) {
	tests := []struct{ why, in, want string }{
		{"colors", "\x1b[1;31mred\x1b[0m \x1b[38;5;241mgray\x1b[m", "red gray"},
		{"a title and a link", "\x1b]0;title\aa\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"},
		{"a title that never ends", "\x1b]0;a\nb\a", "0;a\nb"},
		{"character sets", "\x1b(Ba\x1b=b\x1bMc", "abc"},
		{"broken sequences", "a\x1b[12\nb\x1b", "a\nb"},
		{"a progress bar", "  0%\r 50%\r100%\n", "100%\n"},
		{"one that ends in a return", "  0%\r 50%\r", " 50%"},
		{"erased and written anew", "wait\r\x1b[2Kdone", "done"},
		{"a return and a color", "wait\r\x1b[31mdone\x1b[0m\r\n", "done\n"},
		{"CRLF", "a\r\nb\r\r\nc", "a\nb\nc"},
		{"backspaces", "1/2\b\b\b2/2 é\b\b\b\b\b\b\b\bé\nx\by", "é\ny"},
		{"control characters", "a\x00\x07\x7f\u0085\u009bb\tc", "ab\tc"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, clean(tt.in), tt.why)
	}
}

func BenchmarkLarge(b *testing.B) {
	image := display("image/png", base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 500_000)...)))
	var cells []string
	for range 75 {
		cells = append(cells, codeCell("import x\nx.plot()\n", image))
	}
	text := build(cells...)
	b.Run("Parse", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			parse(b, text)
		}
	})
	n := parse(b, text)
	b.Run("Show", func(b *testing.B) {
		for b.Loop() {
			n.Show(ShowOptions{Offset: 40, Limit: 8})
		}
	})
	b.Run("Replace", func(b *testing.B) {
		for b.Loop() {
			_, err := n.Replace("cell-40", "é", "")
			require.NoError(b, err)
		}
	})
}
