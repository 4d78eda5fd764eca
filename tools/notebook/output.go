package notebook

import (
	"fmt"
	"strings"
)

// maxTypes is how many forms of one output are named.
const maxTypes = 20

// An output is where the parts of an output lie.
type output struct {
	span
	kind, name string // of a stream, its name
	text, data span
	ename      string
	evalue     span
	traceback  span
}

func (n *Notebook) readOutput(at span) output {
	o := output{span: at}
	fields(n.text, at, func(f field) {
		switch f.name {
		case "output_type":
			o.kind = unquote(f.value.in(n.text))
		case "name", "stream": // "stream" in nbformat 3
			o.name = unquote(f.value.in(n.text))
		case "text":
			o.text = f.value
		case "data":
			o.data = f.value
		case "ename":
			o.ename = unquote(f.value.in(n.text))
		case "evalue":
			o.evalue = f.value
		case "traceback":
			o.traceback = f.value
		}
	})
	switch o.kind { // as nbformat 3 calls them
	case "pyout":
		o.kind = "execute_result"
	case "pyerr":
		o.kind = "error"
	}
	return o
}

// streamName is how a stream is called.
func (o *output) streamName() string {
	if o.name == "" {
		return "stdout"
	}
	return plainOrQuoted(o.name, 64)
}

// outputKinds are a few words for each output.
func (n *Notebook) outputKinds(c *cell) []string {
	var out []string
	elements(n.text, c.outputs, func(at span) {
		o := n.readOutput(at)
		switch o.kind {
		case "stream":
			out = append(out, o.streamName())
		case "error":
			out = append(out, "error "+plainOrQuoted(o.ename, 64))
		case "execute_result", "display_data":
			out = append(out, n.types(&o))
		default:
			out = append(out, "unknown")
		}
	})
	return out
}

// types are the forms an output has.
func (n *Notebook) types(o *output) string {
	var out []string
	n.forms(o, func(mime string, _ span) {
		if len(out) < maxTypes {
			out = append(out, plainOrQuoted(mime, 100))
		}
	})
	return strings.Join(out, ", ")
}

// oldTypes are the forms of nbformat 3, which stand in the output itself.
var oldTypes = map[string]string{
	"text": "text/plain", "html": "text/html", "png": "image/png", "jpeg": "image/jpeg",
	"svg": "image/svg+xml", "latex": "text/latex", "json": "application/json",
	"javascript": "application/javascript", "pdf": "application/pdf",
}

// forms visits the forms of an output.
func (n *Notebook) forms(o *output, visit func(mime string, at span)) {
	at, old := o.data, n.worksheets
	if old {
		at = o.span
	}
	fields(n.text, at, func(f field) {
		mime := f.name
		if old {
			if mime = oldTypes[f.name]; mime == "" {
				return
			}
		}
		visit(mime, f.value)
	})
}

// outputs shows the outputs that there is room for.
func (v *view) outputs() {
	b := blocks{view: v}
	elements(v.n.text, v.c.outputs, func(at span) { b.add(v.n.readOutput(at)) })
	b.flush()
	if b.left == 1 {
		v.force("[1 more output not shown: the page is full]")
	} else if b.left > 1 {
		v.force(fmt.Sprintf("[%d more outputs not shown: the page is full]", b.left))
	}
}

// blocks puts together what one stream printed in several outputs: a progress bar may
// be an output for each of its states.
type blocks struct {
	view    *view
	name    string // of the stream; "": none
	printed strings.Builder
	parts   int // outputs in printed
	left    int // outputs that did not fit
}

func (b *blocks) add(o output) {
	isStream := o.kind == "stream"
	if !isStream || o.streamName() != b.name {
		b.flush()
	}
	images := len(b.view.images)
	switch {
	case b.left > 0:
		b.left++
	case isStream:
		b.name = o.streamName()
		b.parts++
		b.printed.WriteString(textOf(b.view.n.text, o.text))
	case !b.view.writeForms(b.view.output(&o), images):
		b.left++
	}
}

// flush shows what the stream printed.
func (b *blocks) flush() {
	if b.parts > 0 && !b.view.write("["+b.name+"]\n"+b.view.short(b.printed.String())) {
		b.left += b.parts
	}
	b.name, b.parts = "", 0
	b.printed.Reset()
}

// short is a text that was put out, cleaned and cut.
func (v *view) short(s string) string {
	s = strings.TrimRight(clean(s), "\n")
	s, _ = cut(s, v.o.OutputLines, v.o.OutputChars)
	return s
}

// output is any output but a stream.
func (v *view) output(o *output) string {
	switch {
	case v.n.text[o.start] != '{':
		return "[output: no object in the JSON of the notebook]"
	case o.kind == "error":
		return v.failure(o)
	case o.kind == "execute_result":
		return v.result("[result]\n", o)
	case o.kind == "display_data":
		return v.result("[display]\n", o)
	}
	return "[output of the unknown type " + shortQuote(o.kind) + "]"
}

// failure is an error with its traceback.
func (v *view) failure(o *output) string {
	text := v.n.text
	lines := []string{o.ename + ": " + textOf(text, o.evalue)}
	elements(text, o.traceback, func(line span) { lines = append(lines, unquote(line.in(text))) })
	if o.traceback.present() && text[o.traceback.start] == '"' {
		lines = append(lines, unquote(o.traceback.in(text)))
	}
	return "[error]\n" + v.short(strings.Join(lines, "\n"))
}

// result is an output in all its forms: text as it is, and a line for each other one.
func (v *view) result(title string, o *output) string {
	var plain, markdown, rest strings.Builder
	count := 0
	v.n.forms(o, func(mime string, at span) {
		switch mime {
		case "text/plain":
			plain.WriteString(endLine(v.short(textOf(v.n.text, at))))
			return
		case "text/markdown": // its plain text says no more than that it is Markdown
			markdown.WriteString("[text/markdown]\n" + endLine(v.short(textOf(v.n.text, at))))
			return
		}
		if count++; count <= maxTypes {
			rest.WriteString("[" + v.form(mime, at) + "]\n")
		}
	})
	if count > maxTypes {
		fmt.Fprintf(&rest, "[%d more forms]\n", count-maxTypes)
	}
	return title + plain.String() + markdown.String() + rest.String()
}

// form is a few words for something that is no text.
func (v *view) form(mime string, at span) string {
	name := plainOrQuoted(mime, 100)
	if mime == "image/png" || mime == "image/jpeg" {
		return v.image(name, at)
	}
	size := at.end - at.start
	if c := v.n.text[at.start]; c == '"' || c == '[' && mime != "application/json" {
		size = len(textOf(v.n.text, at))
	}
	return name + ", " + byteSize(size)
}
