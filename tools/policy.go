package tools

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"mcp-tools/sandbox"
	"mcp-tools/tools/search"
)

// PolicyOptions are the rules as a user writes them.
type PolicyOptions struct {
	// ReadOnly: no tool that writes is offered or run.
	ReadOnly bool
	// Mode is what holds where no rule does. "": ModeDefault.
	Mode Mode
	// Allow, Deny and Ask are rules: `tool` or `tool(pattern)`. See [ParseRule].
	Allow, Deny, Ask []string
}

// A Mode is what holds where no rule does.
type Mode string

const (
	// ModeDefault asks for guarded names and what ask rules name; the rest is allowed.
	ModeDefault Mode = "default"
	// ModeAcceptEdits does not ask for changes of files that are not guarded.
	ModeAcceptEdits Mode = "accept-edits"
	// ModePlan begins each session in plan mode.
	ModePlan Mode = "plan"
	// ModeDontAsk refuses what would be asked.
	ModeDontAsk Mode = "dont-ask"
	// ModeYolo never asks. What deny rules forbid stays forbidden.
	ModeYolo Mode = "yolo"
)

// Modes are all there are.
var Modes = []string{string(ModeDefault), string(ModeAcceptEdits), string(ModePlan), string(ModeDontAsk), string(ModeYolo)}

// Policy decides what is permitted: deny rules first, then plan mode, allow rules,
// the mode, ask rules. The zero Policy permits everything but guarded names, for which
// it asks, and dangerous commands.
type Policy struct {
	readOnly         bool
	mode             Mode
	allow, deny, ask []Rule
}

// NewPolicy reads the rules. An error names the rule and what is wrong with it.
func NewPolicy(o PolicyOptions, r *Registry) (Policy, error) {
	p := Policy{readOnly: o.ReadOnly, mode: o.Mode}
	if p.mode == "" {
		p.mode = ModeDefault
	}
	if !slices.Contains(Modes, string(p.mode)) {
		return Policy{}, fmt.Errorf("--mode %s: there are %s", p.mode, strings.Join(Modes, ", "))
	}
	for _, kind := range []struct {
		flag  string
		texts []string
		rules *[]Rule
	}{{"--allow", o.Allow, &p.allow}, {"--deny", o.Deny, &p.deny}, {"--ask", o.Ask, &p.ask}} {
		for _, text := range kind.texts {
			rule, err := ParseRule(text, r)
			if err != nil {
				return Policy{}, fmt.Errorf("%s %s: %w", kind.flag, text, err)
			}
			*kind.rules = append(*kind.rules, rule)
		}
	}
	return p, nil
}

// A Rule names calls: those of a tool, or of all tools that a pattern with "*"
// matches, and, with a pattern in parentheses, only calls about certain things.
// For tools with a path the pattern is a glob on the path, relative to its root or
// absolute (write_file(docs/**)); such a rule on one tool that writes files holds
// for all of them, and what it denies of one that shows files is not found by
// searches. For run_shell it is a command, where a last ":*" stands for any
// further words (run_shell(npm test:*)). For web_fetch it is a host, which means those
// below it too where it forbids or asks, with wildcards (web_fetch(*.example.com)) and a
// port if need be.
type Rule struct {
	text     string
	tool     string
	pattern  string
	glob     *search.Glob // nil where the pattern is none
	absolute bool         // the glob is on absolute paths
	reveals  bool         // its tool does, see [Tool]
	writes   bool         // its tool changes the file it is about
}

// ParseRule reads a rule. Aliases are understood.
func ParseRule(text string, r *Registry) (Rule, error) {
	name, rest, hasPattern := strings.Cut(strings.TrimSpace(text), "(")
	rule := Rule{text: text, tool: strings.TrimSpace(name)}
	if rule.tool == "" {
		return rule, errors.New("a rule begins with the name of a tool: write_file, or write_file(docs/**)")
	}
	if hasPattern {
		pattern, ok := strings.CutSuffix(rest, ")")
		if !ok || pattern == "" {
			return rule, errors.New("the pattern must stand in parentheses: tool(pattern)")
		}
		if err := rule.setPattern(pattern); err != nil {
			return rule, err
		}
	}
	if _, err := path.Match(rule.tool, ""); err != nil {
		return rule, fmt.Errorf("%q is no pattern of a tool's name", rule.tool)
	}
	if bridged(rule.tool) {
		if rule.pattern != "" {
			return rule, errors.New("tools of other servers take no pattern; a rule can only name the whole tool")
		}
		return rule, nil
	}
	if strings.ContainsAny(rule.tool, "*?[") {
		return rule, rule.takeTools(r)
	}
	t, ok := r.Lookup(rule.tool)
	if !ok {
		return rule, fmt.Errorf("no tool is called %s; there are %s", rule.tool, strings.Join(r.names(), ", "))
	}
	rule.tool, rule.reveals, rule.writes = t.Name, t.Reveals, t.writesFiles()
	switch {
	case rule.pattern == "":
	case !t.about:
		return rule, fmt.Errorf("%s takes no pattern; a rule can only name the whole tool", t.Name)
	case rule.glob == nil && !t.External: // a command need not be a glob
		_, err := search.CompileGlob(rule.pattern)
		return rule, err
	}
	return rule, nil
}

// takeTools sees what the tools are that a name with a wildcard means.
func (r *Rule) takeTools(reg *Registry) error {
	for _, t := range reg.All() {
		if ok, _ := path.Match(r.tool, t.Name); !ok {
			continue
		}
		r.reveals = r.reveals || t.Reveals
		r.writes = r.writes || t.writesFiles()
		if r.pattern != "" && r.glob == nil && t.about && !t.External {
			_, err := search.CompileGlob(r.pattern)
			return err
		}
	}
	return nil
}

// setPattern takes the pattern as a command and, if it is one, as a glob.
func (r *Rule) setPattern(pattern string) error {
	r.pattern = pattern
	glob := strings.TrimPrefix(pattern, "./")
	if rest, ok := strings.CutPrefix(glob, "~/"); ok {
		home, err := sandbox.HomeDir()
		if err != nil {
			return fmt.Errorf("~ is not known: %w", err)
		}
		glob = path.Join(filepath.ToSlash(home), rest)
	}
	r.absolute = strings.HasPrefix(glob, "/")
	if g, err := search.CompileGlob(foldCase(strings.TrimPrefix(glob, "/"))); err == nil {
		r.glob = g
	}
	return nil
}

// foldCase makes names equal that the usual file systems of this system take for one.
func foldCase(s string) string {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.ToLower(norm.NFC.String(s))
	}
	return s
}

func (r *Registry) names() []string {
	out := make([]string, len(r.builtin))
	for i, t := range r.builtin {
		out[i] = t.Name
	}
	return out
}

// names tells whether the rule is about the tool. One with a pattern on a tool
// that writes files is about all that do: a folder that write_file must not touch
// is not edit_file's either.
func (r Rule) names(t *Tool) bool {
	if bridged(t.Name) { // what another server calls them, in any case
		return r.namesBridged(t)
	}
	if r.tool == t.Name || r.pattern != "" && r.writes && t.writesFiles() {
		return true
	}
	ok, _ := path.Match(r.tool, t.Name)
	return ok
}

// namesBridged compares with the tool's full name too, where that is too long for hosts.
func (r Rule) namesBridged(t *Tool) bool {
	pattern := strings.ToLower(r.tool)
	return slices.ContainsFunc(append([]string{t.Name}, t.Aliases...), func(name string) bool {
		ok, _ := path.Match(pattern, strings.ToLower(name))
		return ok
	})
}

// writesFiles: changes the file its input names.
func (t *Tool) writesFiles() bool { return t.about && !t.Traits.ReadOnly && !t.External }

// Subject is what a call is about.
type Subject struct {
	// Paths are the spellings of the one place it touches, and As how the model
	// named it: what it says cannot allow anything.
	Paths []string
	As    string
	// Command is the line it runs, and Runs what that was found to run.
	Command string
	Stdin   string // what that reads
	// Host is whom it fetches from, in lower case, and Port at which.
	Host, Port string
	Runs       sandbox.Commands
	// Guarded: the place may only be written with the user's word.
	Guarded bool
}

// concerns tells whether the rule is about any part of the subject.
func (r Rule) concerns(s Subject) bool {
	if r.pattern == "" {
		return true
	}
	for _, p := range append([]string{s.As}, s.Paths...) {
		// What is said of a folder holds for all that is in it.
		for ; p != "" && p != "." && p != "/"; p = path.Dir(p) {
			if r.matchesPath(p) {
				return true
			}
		}
	}
	if s.Host != "" {
		return r.matchesHost(s, true)
	}
	words, open := r.words()
	return s.Command != "" && s.Runs.MayRun(words, open)
}

// matchesHost compares the pattern with the host of a URL; below: hosts below the one
// it names count too.
func (r Rule) matchesHost(s Subject, below bool) bool {
	pattern := strings.ToLower(r.pattern)
	if _, rest, ok := strings.Cut(pattern, "://"); ok {
		pattern = rest
	}
	pattern = strings.TrimPrefix(pattern, "domain:")
	pattern, _, _ = strings.Cut(pattern, "/")
	if host, port, ok := strings.Cut(pattern, ":"); ok && !strings.Contains(port, ":") {
		if port != s.Port {
			return false
		}
		pattern = host
	}
	pattern = strings.TrimSuffix(pattern, ".")
	host := strings.TrimSuffix(s.Host, ".")
	if ok, _ := path.Match(pattern, host); ok {
		return true
	}
	return below && strings.HasSuffix(host, "."+strings.TrimPrefix(pattern, "*."))
}

// words is the pattern as the words of a command; open: others may follow.
func (r Rule) words() (words string, open bool) {
	words, open = strings.CutSuffix(r.pattern, ":*")
	return strings.Join(strings.Fields(words), " "), open
}

func (r Rule) matchesPath(p string) bool {
	rel, absolute := strings.CutPrefix(foldCase(p), "/")
	return r.glob != nil && r.absolute == absolute && r.glob.Match(rel)
}

// covers tells whether the rule is about the whole of the subject: an allowed
// command must not bring another along.
func (r Rule) covers(s Subject) bool {
	if s.Host != "" && r.pattern != "" {
		return r.matchesHost(s, false)
	}
	if s.Command == "" && r.pattern != "" {
		return slices.ContainsFunc(s.Paths, r.matchesPath)
	}
	if r.pattern == "" || s.Command == "" {
		return r.concerns(s)
	}
	words, open := r.words()
	return s.Runs.RunsOnly(words, open)
}

// offered lists those of the tools that a client may see.
func (p Policy) offered(all []*Tool) []*Tool {
	out := make([]*Tool, 0, len(all))
	for _, t := range all {
		if (t.Traits.ReadOnly || !p.readOnly) && !p.deniesAll(t) {
			out = append(out, t)
		}
	}
	return out
}

// deniesAll tells whether a rule forbids the tool whatever it is about.
func (p Policy) deniesAll(t *Tool) bool {
	for _, r := range p.deny {
		if r.pattern == "" && r.names(t) {
			return true
		}
	}
	return false
}

// deniedWhole is the refusal by a rule that forbids a tool whatever it is about.
func (p Policy) deniedWhole(t *Tool) error {
	for _, r := range p.deny {
		if r.pattern == "" && r.names(t) {
			return r.refusal()
		}
	}
	return nil
}

func (r Rule) refusal() error {
	return denied("the user's rule --deny %s forbids this. Do not try another way to the same end; ask the user.", r.text)
}

// refuses judges by deny rules and the floor: what they say cannot be overruled.
func (p Policy) refuses(t *Tool, s Subject) error {
	for _, r := range p.deny {
		switch {
		case !r.names(t) || !r.concerns(s):
		case s.Runs.Unclear:
			return denied("it cannot be told what this line runs, and the user's rule --deny %s forbids some commands. Write each program by its name, in valid bash, without computing names.", r.text)
		default:
			return r.refusal()
		}
	}
	if s.Command != "" {
		if reason, no := sandbox.DeniedReading(s.Command, s.Stdin); no {
			return Fail(Output{Text: "Error: Dangerous command blocked: " + reason + ". Nothing was run. If it is really needed, ask the user to run it."})
		}
	}
	return nil
}

// asks tells why the user is to be asked for a call that nothing forbids; "" if not.
// mode is that of the session.
func (p Policy) asks(t *Tool, s Subject, traits Traits, mode Mode) (why string) {
	guarded := s.Guarded && !traits.ReadOnly
	for _, r := range p.allow {
		if r.names(t) && r.covers(s) && (!guarded || r.pattern != "") {
			return ""
		}
	}
	switch {
	case mode == ModeYolo:
		return ""
	case guarded:
		return fmt.Sprintf("%s is a guarded name: other programs run or obey what stands in it", s.Paths[0])
	case mode == ModeAcceptEdits && t.writesFiles():
		return ""
	}
	for _, r := range p.ask {
		if r.names(t) && (r.concerns(s) || s.Runs.Unclear && s.Command != "") {
			return fmt.Sprintf("the user's rule --ask %s wants it", r.text)
		}
	}
	return ""
}

// hides tells whether a place must not be seen by a search: what the rules
// forbid the tool itself, or one that shows files.
func (p Policy) hides(t *Tool, spellings []string) bool {
	for _, r := range p.deny {
		if r.pattern != "" && (r.names(t) || r.reveals) && r.concerns(Subject{Paths: spellings}) {
			return true
		}
	}
	return false
}

// keeps tells whether rules forbid to show the content of a place.
func (p Policy) keeps(spellings []string) bool {
	for _, r := range p.deny {
		if r.reveals && r.concerns(Subject{Paths: spellings}) {
			return true
		}
	}
	return false
}

// restricts tells whether hides can ever say yes.
func (p Policy) restricts(t *Tool) bool {
	for _, r := range p.deny {
		if r.pattern != "" && (r.names(t) || r.reveals) {
			return true
		}
	}
	return false
}

func denied(format string, args ...any) error {
	return Fail(Output{Text: "Action denied: " + fmt.Sprintf(format, args...)})
}
