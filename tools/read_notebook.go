package tools

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"mcp-tools/sandbox"
	"mcp-tools/tools/edit"
	"mcp-tools/tools/notebook"
)

// maxNotebook is the size in bytes of the largest notebook that is shown by cells.
const maxNotebook = 64 << 20

func isNotebook(p sandbox.Path) bool { return strings.EqualFold(path.Ext(p.Rel()), ".ipynb") }

// parseNotebook reads a notebook file.
func parseNotebook(content []byte) (edit.Text, *notebook.Notebook, error) {
	text, err := edit.Decode(content)
	if err != nil {
		return text, nil, err
	}
	nb, err := notebook.Parse(text.Body)
	return text, nb, err
}

// showNotebook is a notebook as text, by cells; offset and limit count them. Its
// error says why the file has to be shown like any other text.
func (s *Session) showNotebook(in readFileInput, p sandbox.Path, r *fileReader) (Output, error) {
	if r.info.Size() > maxNotebook {
		return Output{}, fmt.Errorf("it is larger than %s", byteSize(maxNotebook))
	}
	content, err := io.ReadAll(io.LimitReader(r.start(), maxNotebook+1))
	if err != nil {
		return Output{}, err
	}
	text, nb, err := parseNotebook(content)
	if err != nil {
		return Output{}, err
	}
	var o notebook.ShowOptions
	if in.Offset != nil {
		o.Offset = *in.Offset
	}
	if in.Limit != nil {
		o.Limit = *in.Limit
	}
	page := nb.Show(o)
	out := Output{Text: page.Text}
	if page.Note != "" {
		out.Notes = append(out.Notes, page.Note)
	}
	for _, img := range page.Images {
		out.Images = append(out.Images, Image{MIMEType: img.MIMEType, Data: bytes.Clone(img.Data)})
	}
	v := view{path: p, version: sandbox.VersionOf(content), stamp: sandbox.StampOf(r.info), lines: edit.Lines(text.Body)}
	v.whole = page.First == 0 && page.Next < 0 && len(page.Cut) == 0
	version := v.version
	if !v.whole {
		version = version.Partial()
	}
	s.versioned(&out, version)
	s.learn(r.ctx, v)
	return out, nil
}
