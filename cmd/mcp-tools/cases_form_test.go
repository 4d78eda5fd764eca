package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// A testCase is one line of testdata/cases: a fault seen in the field or an
// attack, judged by its effect. The form is described in testdata/cases/README.md.
// Setup, Steps and Check keep their place holders until they are used.
type testCase struct {
	ID, Tool, Class, Gist, Level, Source, Expect, Note string
	Requires                                           []string
	Cost                                               float64 // seconds, about
	Timeout                                            float64 // seconds
	Control                                            bool
	AllowLeftover                                      bool `json:"allow_leftover"`
	Setup                                              any
	Steps                                              []any
	Check                                              any
}

type setupForm struct {
	Files    []fileForm
	Commands []string
	Canary   bool
	Launch   launchForm
}

type fileForm struct {
	Path string
	Text string
	B64  *string
}

type launchForm struct {
	Transport    string
	Era          string
	Protocol     string
	Roots        []string
	Flags        []string
	FetchAllow   []string `json:"fetch_allow"`
	Env          map[string]string
	Unset        []string
	Cwd          string
	Sandbox      string
	Args         []string
	StartFails   bool   `json:"start_fails"`
	NoServer     bool   `json:"no_server"`
	NoClient     bool   `json:"no_client"`
	Name         string `json:"workspace_name"`
	ViaSymlink   bool   `json:"workspace_via_symlink"`
	From         string `json:"workspace_from"`
	Client       clientForm
	HTTPAddr     string                 `json:"http_addr"`
	Tokens       map[string]string      // principal to token
	SessionForms map[string]sessionForm `json:"sessions"`
}

type sessionForm struct {
	Era      string
	Protocol string
	Token    string // the principal whose token it shows
	Client   *clientForm
	Server   *int
}

type clientForm struct {
	Capabilities map[string]any
	Roots        []string
	Elicit       json.RawMessage
	NoInit       bool `json:"no_init"`
}

// A stepForm has one of the first group of keys and any of the rest.
type stepForm struct {
	Call     *string
	RPC      *rpcForm
	Notify   *string
	Pipeline []rpcForm
	Parallel []any
	Raw      *string
	RawB64   *string `json:"raw_b64"`
	Sh       *string
	BgSh     *string `json:"bg_sh"`
	StopBg   bool    `json:"stop_bg"`
	Sleep    *float64
	WaitFile *string `json:"wait_file"`
	Restart  any
	Signal   *string
	CLI      []string
	HTTP     *httpForm
	RawHTTP  *rawHTTPForm `json:"raw_http"`
	Delete   *string      `json:"delete_session"`
	Forget   *string      `json:"forget_session"`

	Args            json.RawMessage
	Params          json.RawMessage
	Session         string
	Server          int
	ProgressToken   any      `json:"progress_token"`
	CancelAfter     *float64 `json:"cancel_after"`
	CloseStdinAfter *float64 `json:"close_stdin_after"`
	TimeoutS        float64  `json:"timeout_s"`
	Repeat          int
	RepeatS         float64 `json:"repeat_s"`
	Save            map[string]saveForm
	Delay           float64
	Settle          *float64
	NoNewline       bool `json:"no_newline"`
	CloseStdin      bool `json:"close_stdin"`
	KeepClients     bool `json:"keep_clients"`
	Must            bool
	Stdin           string
}

type rpcForm struct {
	Method string
	Params json.RawMessage
	Again  bool
}

// An httpForm is an HTTP request as it is, with no client in between.
type httpForm struct {
	Method, Path string
	Headers      map[string]*string // null takes one away that As has brought
	Body         json.RawMessage    // a string is sent as it is
	BodyRepeat   *repeatForm        `json:"body_repeat"`
	As           *string            // the session whose headers are sent
}

// A repeatForm is a body too long to write down: [head, text, n, tail].
type repeatForm struct {
	head, text, tail string
	n                int
}

// A rawHTTPForm is written to a connection: texts, and pauses in seconds.
type rawHTTPForm struct {
	Send     []any
	TimeoutS float64 `json:"timeout_s"`
}

type saveForm struct {
	Path    []any
	Header  string
	Regex   string
	Default string
}

var placeHolder = regexp.MustCompile(`\$\{(\w+)\}`)

// expand fills the place holders that vars knows in every string of x, and
// writes out {"$repeat":[text,n]}.
func expand(x any, vars map[string]string) any {
	switch x := x.(type) {
	case string:
		return placeHolder.ReplaceAllStringFunc(x, func(m string) string {
			if v, ok := vars[m[2:len(m)-1]]; ok {
				return v
			}
			return m
		})
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = expand(x[i], vars)
		}
		return out
	case map[string]any:
		if s, ok := repeated(x); ok {
			return s
		}
		out := make(map[string]any, len(x))
		for k, v := range x {
			out[k] = expand(v, vars)
		}
		return out
	}
	return x
}

func repeated(x map[string]any) (string, bool) {
	r, ok := x["$repeat"].([]any)
	if !ok || len(x) != 1 || len(r) != 2 {
		return "", false
	}
	s, ok1 := r[0].(string)
	n, ok2 := r[1].(json.Number)
	count, err := n.Int64()
	return strings.Repeat(s, int(count)), ok1 && ok2 && err == nil
}

// decodeForm fills form from x; a key that form does not have is an error, so
// that a check is never left out by mistake.
func decodeForm(x any, form any) error {
	if x == nil {
		return nil
	}
	raw, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return decodeStrict(raw, form)
}

// decodeList fills one variable with each element of a JSON array.
func decodeList(raw []byte, into ...any) error {
	want := len(into)
	if err := unmarshal(raw, &into); err != nil {
		return err
	}
	if len(into) != want {
		return fmt.Errorf("%d elements, not %d: %.100s", len(into), want, raw)
	}
	return nil
}

func (r *repeatForm) UnmarshalJSON(raw []byte) error {
	return decodeList(raw, &r.head, &r.text, &r.n, &r.tail)
}

func decodeStrict(raw []byte, form any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	return dec.Decode(form)
}

// label is how a step is named in results: "3", or "3.1" within a group.
func label(step any) string { return fmt.Sprint(step) }
