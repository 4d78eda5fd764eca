// Package notebook reads Jupyter notebooks (.ipynb) for a model and edits single
// cells, so that every byte that does not belong to the edit stays what it was:
// indentation, order of keys, escapes, line endings, metadata, outputs of other
// cells. It works on strings only and opens no file.
package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxCells is how many cells a notebook may have. Those that people work with have
// hundreds; a file of nothing but "{}," would take many times its size in memory.
const MaxCells = 100_000

const byteOrderMark = "\ufeff"

// The types of cells that can be written.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// A Notebook is a notebook taken apart. It never changes: an edit gives a new text,
// to be parsed again for the next one.
type Notebook struct {
	// Rand makes the ids of new cells; nil: crypto/rand.
	Rand io.Reader

	text         string
	top          span // the outermost object
	list         span // the array "cells"
	cells        []cell
	metadata     span
	major, minor int  // of nbformat; 0 where the notebook does not say
	worksheets   bool // nbformat 3 and before: the cells lie elsewhere
}

// A cell is where the parts of a cell lie. Of a key that stands twice, it has the
// last, as most readers do.
type cell struct {
	span
	id, kind    string
	source      span
	outputs     span
	count       span
	attachments span
	twice       string // a key that stands twice, quoted; "": none
}

// A Cell is what a program may want to know of a cell.
type Cell struct {
	Index          int
	ID             string // "" where it has none, as before nbformat 4.5
	Type           string // as the file says, also when it is none of the known ones
	Source         string
	Outputs        []string // what each output is: "stdout", "error ValueError", "text/plain, image/png"
	ExecutionCount int      // 0: it has not run
}

// Parse takes a notebook apart: nbformat 4, and nbformat 3 to be shown only. text is
// UTF-8, with or without a byte order mark. An error says what is wrong and, where
// it can, in which line.
func Parse(text string) (*Notebook, error) {
	body := strings.TrimPrefix(text, byteOrderMark)
	if err := checkJSON(body); err != nil {
		return nil, err
	}
	n := &Notebook{text: text, top: span{skipSpace(text, len(text)-len(body)), len(text)}}
	if text[n.top.start] != '{' {
		return nil, errors.New("not a notebook: the JSON is no object with the key \"cells\"")
	}
	return n, n.readTop()
}

func checkJSON(body string) error {
	if strings.Trim(body, " \t\r\n") == "" {
		return errors.New("not a notebook: the file is empty")
	}
	if raw := []byte(body); !json.Valid(raw) {
		return explainSyntax(body, json.Unmarshal(raw, new(json.RawMessage)))
	}
	if i := badUTF8(body); i >= 0 {
		return fmt.Errorf("not a notebook: line %d has bytes that are no UTF-8", lineAt(body, i))
	}
	return nil
}

// badUTF8 is where the first byte of s stands that is no UTF-8, -1 if all is.
func badUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
			return i
		}
	}
	return -1
}

func explainSyntax(body string, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("not JSON: %w", err)
	}
	at := max(0, int(syntax.Offset)-1)
	why := err.Error()
	if strings.HasPrefix(body[at:], "<<<<<<<") || strings.HasPrefix(body[at:], ">>>>>>>") || strings.HasPrefix(body[at:], "=======") {
		why = "the mark of a merge conflict"
	}
	return fmt.Errorf("not JSON: line %d: %s", lineAt(body, at), why)
}

// readTop reads the outermost object.
func (n *Notebook) readTop() error {
	var seen names
	var sheets span
	var err error
	fields(n.text, n.top, func(f field) {
		if seen.add(f.name) && err == nil {
			err = fmt.Errorf("the key %s stands twice in the notebook, again in line %d; which one counts is not defined", shortQuote(f.name), lineAt(n.text, f.key.start))
		}
		switch f.name {
		case "cells":
			n.list = f.value
		case "worksheets":
			sheets = f.value
		case "metadata":
			n.metadata = f.value
		case "nbformat":
			n.major = number(f.value.in(n.text))
		case "nbformat_minor":
			n.minor = number(f.value.in(n.text))
		}
	})
	switch {
	case err != nil:
		return err
	case n.list.present():
		return n.readCells(n.list)
	case sheets.present() && n.major < 4:
		n.worksheets = true
		return n.readSheets(sheets)
	}
	return errors.New("not a notebook: the JSON has no key \"cells\"")
}

// number is a whole number of JSON, 0 where raw is something else.
func number(raw string) int {
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || f != float64(int32(f)) {
		return 0
	}
	return int(f)
}

// readSheets reads the cells of a notebook of nbformat 3.
func (n *Notebook) readSheets(sheets span) (err error) {
	elements(n.text, sheets, func(sheet span) {
		fields(n.text, sheet, func(f field) {
			if f.name == "cells" && err == nil {
				err = n.readCells(f.value)
			}
		})
	})
	return err
}

func (n *Notebook) readCells(list span) error {
	if n.text[list.start] != '[' {
		return fmt.Errorf("not a notebook: \"cells\" in line %d is no list", lineAt(n.text, list.start))
	}
	more := 0
	elements(n.text, list, func(value span) {
		if len(n.cells) == MaxCells {
			more++
			return
		}
		n.cells = append(n.cells, n.readCell(value))
	})
	if more > 0 {
		return fmt.Errorf("the notebook has %d cells; more than %d are not supported", len(n.cells)+more, MaxCells)
	}
	return nil
}

func (n *Notebook) readCell(value span) cell {
	c := cell{span: value}
	var seen names
	fields(n.text, value, func(f field) {
		if seen.add(f.name) {
			c.twice = shortQuote(f.name)
		}
		switch f.name {
		case "id":
			c.id = unquote(f.value.in(n.text))
		case "cell_type":
			c.kind = unquote(f.value.in(n.text))
		case "source":
			c.source = f.value
		case "input": // of nbformat 3
			if n.worksheets {
				c.source = f.value
			}
		case "outputs":
			c.outputs = f.value
		case "execution_count":
			c.count = f.value
		case "prompt_number": // of nbformat 3
			if n.worksheets {
				c.count = f.value
			}
		case "attachments":
			c.attachments = f.value
		}
	})
	return c
}

// Len is how many cells the notebook has.
func (n *Notebook) Len() int { return len(n.cells) }

// Format is the nbformat of the notebook, 0 where it does not say.
func (n *Notebook) Format() (major, minor int) { return n.major, n.minor }

// Cells are all cells. Each call reads them anew.
func (n *Notebook) Cells() []Cell {
	out := make([]Cell, len(n.cells))
	for i := range n.cells {
		c := &n.cells[i]
		out[i] = Cell{
			Index: i, ID: c.id, Type: c.kind,
			Source:         textOf(n.text, c.source),
			Outputs:        n.outputKinds(c),
			ExecutionCount: number(c.count.in(n.text)),
		}
	}
	return out
}

// Language is the language of the code cells in lower case ("python"), "" where the
// notebook does not say.
func (n *Notebook) Language() string {
	var info, kernel, name string
	fields(n.text, n.metadata, func(f field) {
		fields(n.text, f.value, func(in field) {
			value := strings.ToLower(unquote(in.value.in(n.text)))
			switch f.name + "." + in.name {
			case "language_info.name":
				info = value
			case "kernelspec.language":
				kernel = value
			case "kernelspec.name":
				name = kernelLanguage(value)
			}
		})
	})
	for _, s := range []string{info, kernel, name} {
		if s != "" {
			return s
		}
	}
	return ""
}

// kernelLanguage is the language of a kernel by its name: "python3", "julia-1.9".
func kernelLanguage(name string) string {
	name, _, _ = strings.Cut(name, "-")
	name = strings.TrimRight(name, "0123456789.")
	if name == "ir" {
		return "r"
	}
	return name
}
