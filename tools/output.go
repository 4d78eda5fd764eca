package tools

import (
	"encoding/json"
	"errors"

	"mcp-tools/sandbox"
)

// Output is what a tool gives back: text for the model, and sometimes more.
type Output struct {
	Text   string
	Images []Image
	Links  []Link          // where the whole of a large result lies
	Raw    []any           // content blocks of a bridged server, passed through after the text
	Data   json.RawMessage // structured content of a bridged server, passed through
	Meta   map[string]any  // facts for programs (version, counts, timings); becomes _meta under "mcp-tools/", never structuredContent

	// Whole is set by a tool that has already saved a large result itself,
	// because it never held it in memory; Text is then not used.
	Whole *Whole
	// Notes are closing lines, each shown in brackets after the text and never cut.
	Notes []string
}

// An Image is a picture for the model.
type Image struct {
	MIMEType string
	Data     []byte
}

// A Link names a file that holds more than the result shows.
type Link struct {
	Name string // short name
	Path string // as file tools take it
	URI  string // file:// URI
	Size int64  // bytes
}

// Result is how a call ended. It is never shared: the receiver may change it.
type Result struct {
	Output
	// IsError: the text says what failed and what to do next.
	IsError bool
	// Tool is the tool that was called, nil when no tool has that name.
	Tool *Tool
	// Pending: the call has not run, for the user is to be asked first; the rest is empty.
	Pending *Pending
	// ListChanged: the call changed which tools its session is shown.
	ListChanged bool
}

// failure is an error whose result carries more than a sentence.
type failure struct{ out Output }

func (f *failure) Error() string { return f.out.Text }

// Fail is an error result with the whole of out: its text is shown as it is.
func Fail(out Output) error { return &failure{out} }

// outputOf turns a handler's error into a result.
func outputOf(err error) Output {
	var f *failure
	if errors.As(err, &f) {
		return f.out
	}
	return Output{Text: "Error: " + err.Error()}
}

// setMeta adds a fact for programs to out.
func (out *Output) setMeta(key string, value any) {
	if out.Meta == nil {
		out.Meta = make(map[string]any)
	}
	out.Meta[key] = value
}

// Whole is a result that lies in the state directory, with what a preview shows of it.
type Whole struct {
	File  *sandbox.SavedFile
	Bytes int64
	Lines int
	// Lead is text that stands before all else ("Command failed …").
	Lead string
	// Label says what the preview consists of ("first 200 lines"), and Preview
	// makes it, after before.
	Label   string
	Preview func(before string) string
}
