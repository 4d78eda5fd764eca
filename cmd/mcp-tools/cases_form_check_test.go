package main

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
	ValidUTF8      bool          `json:"valid_utf8"`
	StdoutAllJSON  bool          `json:"stdout_all_json"`
	NullIDError    *int          `json:"null_id_error"`
	RPCOK          []any         `json:"rpc_ok"`
	RPCOrTool      []any         `json:"rpc_error_or_tool_error"`
	SameResult     []any         `json:"same_result"`
	ResponseOrder  []any         `json:"response_order"`
	HTTPStatus     []statusCheck `json:"http_status"`
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

// A statusCheck is [step, [status, ...]]: any of these is right. 0: no answer.
type statusCheck struct {
	step  any
	codes []int
}

func (s *statusCheck) UnmarshalJSON(raw []byte) error {
	return decodeList(raw, &s.step, &s.codes)
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
