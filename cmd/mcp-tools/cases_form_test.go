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
	SessionForms map[string]sessionForm `json:"sessions"`
}

type sessionForm struct {
	Era      string
	Protocol string
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

type saveForm struct {
	Path    []any
	Regex   string
	Default string
}

type checkForm struct {
	Results        []resultCheck
	JSON           []jsonCheck
	Files          []fileCheck
	DirEntries     []dirCheck     `json:"dir_entries"`
	SuccessImplies []impliesCheck `json:"success_implies"`
	MinSuccess     *countCheck    `json:"min_success"`
	MaxSuccess     *countCheck    `json:"max_success"`

	NotFileContains []struct {
		Path  string
		Texts []string
	} `json:"not_file_contains"`
	TreeUnchanged []string `json:"tree_unchanged"`
	SavedMode     *struct {
		Var, Mode string
	} `json:"saved_mode"`

	NotAnywhere    []string `json:"not_anywhere"`
	NotLogged      []string `json:"not_logged"`
	ProcsAbsent    []string `json:"procs_absent"`
	ProcsAbsentRe  []string `json:"procs_absent_regex"`
	ExitsWithin    *float64 `json:"exits_within"`
	ExitStatus     any      `json:"exit_status"`
	StderrRegex    []string `json:"stderr_regex"`
	MaxRSS         float64  `json:"max_rss_mb"`
	Alive          any
	ValidUTF8      bool  `json:"valid_utf8"`
	StdoutAllJSON  bool  `json:"stdout_all_json"`
	NullIDError    *int  `json:"null_id_error"`
	RPCOK          []any `json:"rpc_ok"`
	RPCOrTool      []any `json:"rpc_error_or_tool_error"`
	SameResult     []any `json:"same_result"`
	ResponseOrder  []any `json:"response_order"`
	Progress       *progressCheck
	ProgressBefore []beforeCheck `json:"progress_before_response"`
	Notes          []noteCheck
	Asked          []noteCheck
	ToolsList      *lintForm   `json:"tools_list"`
	AnyOf          []checkForm `json:"any_of"`
}

type resultCheck struct {
	Step        any
	IsError     *bool `json:"is_error"`
	RPCError    *bool `json:"rpc_error"`
	RPCCode     *int  `json:"rpc_code"`
	Answered    *bool
	Contains    []string
	NotContains []string `json:"not_contains"`
	Regex       []string
	NotRegex    []string `json:"not_regex"`
	MaxChars    *int     `json:"max_chars"`
	MinChars    *int     `json:"min_chars"`
	MaxSeconds  *float64 `json:"max_seconds"`
	Block       string
	Exit        *int
}

type jsonCheck struct {
	Step    any
	Path    []any
	Exists  *bool
	Equals  any
	Differs any
	Regex   string
}

type fileCheck struct {
	Path         string
	Text, B64    *string
	Exists       *bool
	Link         *string
	Mode         string
	Size         *int
	SizeMin      int `json:"size_min"`
	Lines        *int
	TextEnds     string `json:"text_ends"`
	Has          []string
	HardlinkWith string `json:"hardlink_with"`
	UID, GID     *int
}

type dirCheck struct {
	Path   string
	Equals []string
}

type impliesCheck struct {
	Step         any
	File         string
	TextContains string `json:"text_contains"`
}

type countCheck struct {
	Steps []any
	N     int
}

type progressCheck struct {
	Token      any
	Min        int
	Max        *int
	Increasing bool
	MaxPerS    float64 `json:"max_per_s"`
	Seconds    float64
}

type beforeCheck struct {
	Step  any
	Token any
}

type noteCheck struct {
	Method  string
	Min     int
	Max     *int
	Session string
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

func decodeStrict(raw []byte, form any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	return dec.Decode(form)
}

// validate decodes every part of the case once, so that a mistake in its form
// shows before anything is run.
func (tc *testCase) validate() error {
	var setup setupForm
	if err := decodeForm(expand(tc.Setup, nil), &setup); err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	if t := setup.Launch.Transport; t != "" && t != "stdio" {
		return fmt.Errorf("setup: transport %q", t)
	}
	if err := validateSteps(tc.Steps); err != nil {
		return err
	}
	var check checkForm
	if err := decodeForm(expand(tc.Check, nil), &check); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return check.validate()
}

func validateSteps(steps []any) error {
	for i, s := range steps {
		var step stepForm
		if err := decodeForm(expand(s, nil), &step); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if step.kind() == nil {
			return fmt.Errorf("step %d does nothing", i)
		}
		if err := validateSteps(step.Parallel); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// validate compiles the patterns; they must be such as Go knows.
func (k *checkForm) validate() error {
	var all []string
	for _, r := range k.Results {
		all = append(append(all, r.Regex...), r.NotRegex...)
	}
	for _, j := range k.JSON {
		all = append(all, j.Regex)
	}
	for _, re := range append(append(all, k.ProcsAbsentRe...), k.StderrRegex...) {
		if _, err := regexp.Compile(re); err != nil {
			return fmt.Errorf("check: %w", err)
		}
	}
	for i := range k.AnyOf {
		if err := k.AnyOf[i].validate(); err != nil {
			return err
		}
	}
	return nil
}

// needsProc tells whether processes must be looked into, beyond those the runner
// started itself.
func (k *checkForm) needsProc() bool {
	for i := range k.AnyOf {
		if k.AnyOf[i].needsProc() {
			return true
		}
	}
	return len(k.ProcsAbsent) > 0 || len(k.ProcsAbsentRe) > 0 || k.MaxRSS > 0
}

// label is how a step is named in results: "3", or "3.1" within a group.
func label(step any) string { return fmt.Sprint(step) }
