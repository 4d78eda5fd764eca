package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"mcp-tools/sandbox"
)

// maxJudged is how often a call may be judged anew: an answer of the user was about
// something else by the time it came.
const maxJudged = 3

// A judgement that needs the user's yes.
type mustAsk struct {
	why string // in words of a model
	key string // of what is allowed
	how string // the rule that would allow it
	say string // the question
}

func (m *mustAsk) Error() string { return m.why }

// permit judges the call when its turn has come, and asks the user where it must. While
// the user is asked the call gives its turn to others.
func (c *Call) permit(ctx context.Context) error {
	if c.via != nil {
		// Only whether call_tool itself is denied: what it does is the called tool's.
		if err := c.s.policy().deniedWhole(c.via); err != nil {
			return err
		}
	}
	for range maxJudged {
		err := c.judge(ctx)
		var m *mustAsk
		if !errors.As(err, &m) {
			return err
		}
		c.ticket.leave()
		if err := c.askUser(ctx, m); err != nil {
			return err
		}
		c.allowed = m.key
		c.ticket = c.s.gates.enter(c.tool.Lane, c.class())
	}
	return denied("what %s is about has changed again and again while the user was asked. Nothing was done.", c.tool.Name)
}

// judge asks the rules once; see SECURITY.md, Permissions, for their order.
func (c *Call) judge(ctx context.Context) error {
	policy := c.s.policy()
	if err := policy.deniedWhole(c.tool); err != nil {
		return err
	}
	if policy.readOnly && !c.tool.Traits.ReadOnly && !(c.s.plan.active() && c.tool.writesFiles()) {
		return denied("%s writes, and the server runs with --read-only. Only the user can start it otherwise.", c.tool.Name)
	}
	if err := c.ticket.wait(ctx); err != nil {
		return cancelled(err)
	}
	c.places = nil // what was found in an earlier turn may not hold any more
	var subject Subject
	if target, ok := c.input.(Target); ok {
		var err error
		if subject, err = target.Target(ctx, c.s); err != nil {
			return err
		}
	}
	if err := policy.refuses(c.tool, subject); err != nil {
		return err
	}
	if stop, err := c.planned(subject); stop {
		return err
	}
	if policy.readOnly && !c.tool.Traits.ReadOnly {
		return denied("%s writes, and the server runs with --read-only. Only the user can start it otherwise.", c.tool.Name)
	}
	why := policy.asks(c.tool, subject, c.traits, c.s.mode())
	if why == "" && c.s.mode() != ModeYolo {
		why = c.hookAsks
	}
	if why == "" || c.preapproved && !subject.Guarded {
		c.granted = subject.Guarded
		return nil
	}
	m := c.needsYes(subject, why)
	if c.allowed == m.key || c.s.said.holds(m.key) {
		c.granted = subject.Guarded
		return nil
	}
	return m
}

// planned is what plan mode says: the plan file may be written, and else nothing.
func (c *Call) planned(subject Subject) (stop bool, err error) {
	if !c.s.plan.active() || c.traits.ReadOnly {
		return false, nil
	}
	if file := c.s.plan.path(); file != "" && c.tool.writesFiles() && len(subject.Paths) > 0 {
		for _, p := range subject.Paths {
			if p == filepath.ToSlash(file) {
				return true, nil
			}
		}
	}
	if subject.Command != "" {
		return true, Fail(Output{Text: "Action denied: Shell commands blocked in plan mode, but for those that only read. exit_plan_mode ends it."})
	}
	return true, Fail(Output{Text: "Action denied: Blocked in plan mode: " + c.tool.Name + ". Write the plan into the plan file, and call exit_plan_mode when it is ready."})
}

// needsYes is the question that is to be put.
func (c *Call) needsYes(subject Subject, why string) *mustAsk {
	m := &mustAsk{why: why, how: c.tool.Name}
	about := ""
	switch {
	case len(subject.Paths) > 0:
		about = subject.Paths[0]
		m.how += "(" + about + ")"
	case subject.Command != "":
		about = subject.Command
		m.how += "(" + subject.Command + ")"
	case subject.Host != "":
		about = subject.Host
		m.how += "(" + subject.Host + ")"
	default:
		about = shorten(string(c.args), maxAsked)
	}
	m.key = c.tool.Name + "\x00" + about
	if subject.Command != "" {
		m.key += "\x00" + subject.Stdin
	}
	m.say = fmt.Sprintf("Allow %s: %s?\n(%s)", c.tool.Name, shorten(printable(about), maxAsked), why)
	return m
}

// maxAsked is how many bytes of what a call is about are shown to the user.
const maxAsked = 2000

// askUser puts the question; nil: the user has said yes.
func (c *Call) askUser(ctx context.Context, m *mustAsk) error {
	if c.s.mode() == ModeDontAsk {
		return c.refused(m, fmt.Sprintf("%s, and the server runs with --mode dont-ask. The user can start it with --allow '%s'.", m.why, m.how))
	}
	q := Question{Key: m.key, Message: m.say, Schema: yesNo(!c.s.opts.Stateless)}
	answer, err := c.answerTo(ctx, q)
	switch {
	case errors.Is(err, errCannotAsk):
		return c.refused(m, fmt.Sprintf("%s, so it needs the user's yes, and this client cannot ask. The user can start the server with --allow '%s'. Nothing was done.", m.why, m.how))
	case err != nil:
		return err
	}
	yes, always, reason := answer.decision()
	if !yes {
		text := "the user said no"
		if reason != "" {
			text += ": " + shorten(printable(reason), maxAsked)
		}
		return c.refused(m, text+". Do not try another way to the same end.")
	}
	c.s.said.forgive(m.key)
	if always {
		c.s.said.allow(m.key)
	}
	return nil
}

// refused is the denial, which tells when it is not the first of its kind.
func (c *Call) refused(m *mustAsk, text string) error {
	if n := c.s.said.refuse(m.key); n >= 3 {
		text += fmt.Sprintf(" This was denied %d times in a row: do something else, or ask the user what to do.", n)
	}
	return denied("%s", text)
}

// errCannotAsk: there is nobody to ask.
var errCannotAsk = errors.New("the user cannot be asked")

// answerTo gets the answer to a question: the one that came with the call's repetition,
// or one asked for now. Where a client is asked by ending the call, its error is a
// [*Pending].
func (c *Call) answerTo(ctx context.Context, q Question) (Answer, error) {
	if c.resumed != nil && c.resumed.Key == q.Key {
		return c.resumed.Answer, nil
	}
	if ask := ElicitOf(ctx); ask != nil {
		a, err := ask(ctx, q)
		if err != nil && ctx.Err() != nil {
			return a, cancelled(context.Cause(ctx))
		}
		if err != nil {
			return a, denied("the user was asked and did not answer (%v). Nothing was done.", err)
		}
		return a, nil
	}
	if c.rounds {
		return Answer{}, &Pending{q}
	}
	return Answer{}, errCannotAsk
}

// answers are what the user of a session has said. Safe for concurrent use.
type answers struct {
	mu      sync.Mutex
	allowed map[string]bool // for the whole session
	last    string          // what was refused last
	times   int             // how often in a row
}

// maxAllowed bounds what a session remembers to be allowed.
const maxAllowed = 1000

func (a *answers) holds(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.allowed[key]
}

func (a *answers) allow(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.allowed == nil {
		a.allowed = make(map[string]bool)
	}
	if len(a.allowed) < maxAllowed {
		a.allowed[key] = true
	}
}

func (a *answers) refuse(key string) (times int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last != key {
		a.last, a.times = key, 0
	}
	a.times++
	return a.times
}

func (a *answers) forgive(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == key {
		a.last, a.times = "", 0
	}
}

// any: something would be forgotten.
func (a *answers) any() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.allowed) > 0
}

// mode is that of the session: what the user chose in it, else that of the policy.
func (s *Session) mode() Mode {
	if m := s.plan.chosen(); m != "" {
		return m
	}
	return s.policy().mode
}

// planState is a session's plan mode. Safe for concurrent use.
type planState struct {
	mu   sync.Mutex
	on   bool
	file string // of the plan; "": none was named yet
	mode Mode   // chosen at the end of a plan
}

func (p *planState) active() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.on
}

func (p *planState) path() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.file
}

func (p *planState) chosen() Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode
}

// enter begins plan mode; already: it had begun.
func (p *planState) enter(state *sandbox.State) (file string, already bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	already = p.on
	if p.file == "" {
		if p.file, err = state.NewPlan(); err != nil {
			return "", already, fmt.Errorf("no file for the plan can be made: %s", sandbox.Reason(err))
		}
	}
	p.on = true
	return p.file, already, nil
}

// leave ends plan mode.
func (p *planState) leave(mode Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on = false
	if mode != "" {
		p.mode = mode
	}
}

// yesNo is the schema of the answer to whether a call may run.
func yesNo(session bool) []byte {
	choices, words := `"yes","no"`, `"Yes, once","No"`
	if session {
		choices, words = `"yes","always","no"`, `"Yes, once","Yes, in this whole session","No"`
	}
	return []byte(`{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":[` + choices + `],"enumNames":[` + words + `],"default":"yes"},` +
		`"reason":{"type":"string","title":"If not, why?"}},"required":["decision"]}`)
}

// decision reads an answer to yesNo. Whoever accepts without a word has said yes.
func (a Answer) decision() (yes, always bool, reason string) {
	if a.Action != "accept" {
		return false, false, ""
	}
	content := a.fields()
	switch strings.ToLower(content["decision"]) {
	case "yes", "":
		return true, false, ""
	case "always":
		return true, true, ""
	}
	return false, false, content["reason"]
}
