package main

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// text is what a model would read: the text blocks joined by a newline; for
// other results and protocol errors the JSON.
func (a answer) text() string {
	if a.fault != "" {
		return "(" + a.fault + ")"
	}
	if a.err != nil {
		return compact(a.err)
	}
	blocks, ok := dig(a.result, "content").([]any)
	key := "text"
	if !ok {
		if blocks, ok = dig(a.result, "contents").([]any); !ok {
			return compact(a.result)
		}
		key = ""
	}
	var texts []string
	for _, b := range blocks {
		if key == "" || dig(b, "type") == key {
			t, _ := dig(b, "text").(string)
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n")
}

func (a answer) protocolError() bool { return a.err != nil || a.fault != "" }

func (a answer) isError() bool {
	return a.protocolError() || dig(a.result, "isError") == true
}

func (a answer) whole() any {
	return map[string]any{"result": a.result, "error": a.err}
}

func (c *caseRun) answer(step any) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.answers[label(step)]
	return a, ok
}

// faults collects what a check finds wrong.
type faults []string

func (f *faults) add(format string, a ...any) { *f = append(*f, fmt.Sprintf(format, a...)) }

func (f *faults) addIf(wrong bool, format string, a ...any) {
	if wrong {
		f.add(format, a...)
	}
}

func (c *caseRun) checkForm() (checkForm, error) {
	var k checkForm
	err := decodeForm(expand(c.tc.Check, c.copyVars()), &k)
	return k, err
}

func (c *caseRun) checkAll() []string {
	k, err := c.checkForm()
	if err != nil {
		return []string{err.Error()}
	}
	return c.check(&k)
}

// check returns what is not as k wants it.
func (c *caseRun) check(k *checkForm) []string {
	var bad faults
	for i := range k.Results {
		c.checkResult(&k.Results[i], &bad)
	}
	for i := range k.JSON {
		c.checkJSON(&k.JSON[i], &bad)
	}
	for i := range k.Files {
		c.checkFile(&k.Files[i], &bad)
	}
	c.checkFolders(k, &bad)
	c.checkSuccesses(k, &bad)
	c.checkWords(k, &bad)
	c.checkProcesses(k, &bad)
	c.checkServer(k, &bad)
	c.checkConnection(k, &bad)
	c.checkAnswers(k, &bad)
	c.checkProgress(k, &bad)
	c.checkNotes(k, &bad)
	if k.ToolsList != nil {
		c.lint(k.ToolsList, &bad)
	}
	c.checkAnyOf(k.AnyOf, &bad)
	return bad
}

func (c *caseRun) checkAnyOf(alternatives []checkForm, bad *faults) {
	var reasons []string
	for i := range alternatives {
		wrong := c.check(&alternatives[i])
		if len(wrong) == 0 {
			return
		}
		reasons = append(reasons, wrong[0])
	}
	bad.addIf(len(reasons) > 0, "no alternative holds: %s", strings.Join(reasons, " || "))
}

func (c *caseRun) checkResult(k *resultCheck, bad *faults) {
	at := label(k.Step)
	a, ok := c.answer(k.Step)
	if !ok {
		bad.add("no result for step %s", at)
		return
	}
	t := a.text()
	bad.addIf(a.fault != "" && (k.Answered == nil || *k.Answered), "step %s: %s", at, a.fault)
	bad.addIf(k.Answered != nil && !*k.Answered && a.fault == "", "step %s: answered: %.160q", at, t)
	bad.addIf(k.IsError != nil && a.isError() != *k.IsError, "step %s: is_error %v: %.200q", at, a.isError(), t)
	bad.addIf(k.RPCError != nil && a.protocolError() != *k.RPCError, "step %s: protocol error %v: %.160q", at, a.protocolError(), t)
	bad.addIf(k.RPCCode != nil && fmt.Sprint(dig(a.err, "code")) != fmt.Sprint(*k.RPCCode), "step %s: code %v", at, dig(any(a.err), "code"))
	for _, y := range k.Contains {
		bad.addIf(!strings.Contains(t, y), "step %s lacks %q in %.240q", at, y, t)
	}
	for _, y := range k.NotContains {
		bad.addIf(strings.Contains(t, y), "step %s has %q", at, y)
	}
	for _, y := range k.Regex {
		bad.addIf(!regexp.MustCompile(y).MatchString(t), "step %s !~ %q: %.240q", at, y, t)
	}
	for _, y := range k.NotRegex {
		bad.addIf(regexp.MustCompile(y).MatchString(t), "step %s ~ %q: %.240q", at, y, t)
	}
	n := utf8.RuneCountInString(t)
	bad.addIf(k.MaxChars != nil && n > *k.MaxChars, "step %s: %d chars", at, n)
	bad.addIf(k.MinChars != nil && n < *k.MinChars, "step %s: only %d chars", at, n)
	bad.addIf(k.MaxSeconds != nil && a.seconds > *k.MaxSeconds, "step %s: %.1f s", at, a.seconds)
	bad.addIf(k.Block != "" && !a.hasBlock(k.Block), "step %s: no %s in the content", at, k.Block)
	bad.addIf(k.Exit != nil && (a.exit == nil || *a.exit != *k.Exit), "step %s: another exit code: %.200q", at, t)
}

func (a answer) hasBlock(kind string) bool {
	blocks, _ := dig(a.result, "content").([]any)
	return slices.ContainsFunc(blocks, func(b any) bool { return dig(b, "type") == kind })
}

func (c *caseRun) checkJSON(k *jsonCheck, bad *faults) {
	a, _ := c.answer(k.Step)
	got := dig(a.whole(), k.Path...)
	at := fmt.Sprintf("step %s: %v", label(k.Step), k.Path)
	bad.addIf(k.Exists != nil && (got != nil) != *k.Exists, "%s is %.80v", at, got)
	bad.addIf(k.Equals != nil && !reflect.DeepEqual(got, k.Equals), "%s is %.120v, want %.120v", at, got, k.Equals)
	bad.addIf(k.Differs != nil && reflect.DeepEqual(got, k.Differs), "%s is still %.120v", at, got)
	if k.Regex != "" {
		s, isText := got.(string)
		bad.addIf(!isText || !regexp.MustCompile(k.Regex).MatchString(s), "%s is %.120v", at, got)
	}
}

func (c *caseRun) checkSuccesses(k *checkForm, bad *faults) {
	for _, x := range k.SuccessImplies {
		a, _ := c.answer(x.Step)
		bad.addIf(!a.isError() && !strings.Contains(readText(c.path(x.File)), x.TextContains),
			"step %s said ok but %q is lost", label(x.Step), x.TextContains)
	}
	count := func(steps []any) (n int) {
		for _, s := range steps {
			if a, ok := c.answer(s); ok && !a.isError() {
				n++
			}
		}
		return n
	}
	if m := k.MinSuccess; m != nil {
		bad.addIf(count(m.Steps) < m.N, "%d successes", count(m.Steps))
	}
	if m := k.MaxSuccess; m != nil {
		bad.addIf(count(m.Steps) > m.N, "%d successes", count(m.Steps))
	}
}

// checkWords looks for what must appear nowhere.
func (c *caseRun) checkWords(k *checkForm, bad *faults) {
	if len(k.NotAnywhere) > 0 {
		var dump strings.Builder
		for _, a := range c.all {
			dump.WriteString(compact(a.whole()))
			dump.WriteString(compact(a.header))
		}
		for _, cl := range c.clients {
			cl.mu.Lock()
			for _, e := range cl.events {
				dump.WriteString(compact(e.msg))
			}
			cl.mu.Unlock()
		}
		for _, y := range k.NotAnywhere {
			bad.addIf(strings.Contains(dump.String(), y), "%q appears in an answer", y)
		}
	}
}

// checkLogs is for when all has ended, and the logs are whole.
func (c *caseRun) checkLogs() []string {
	k, err := c.checkForm()
	if err != nil {
		return nil // told before
	}
	var bad faults
	for _, y := range k.NotLogged {
		for _, s := range c.servers {
			bad.addIf(strings.Contains(s.log(), y), "%q appears in the log", y)
		}
	}
	return bad
}

func (c *caseRun) checkProcesses(k *checkForm, bad *faults) {
	if len(k.ProcsAbsent)+len(k.ProcsAbsentRe) == 0 {
		return
	}
	time.Sleep(300 * time.Millisecond)
	for _, p := range processesOf(c.base) {
		bad.addIf(slices.Contains(k.ProcsAbsent, p.cmdline), "left over: %s", p.cmdline)
		for _, re := range k.ProcsAbsentRe {
			bad.addIf(regexp.MustCompile(re).MatchString(p.cmdline), "left over: %s", clip(p.cmdline, 80))
		}
	}
}

// checkServer looks at the process of the first server.
func (c *caseRun) checkServer(k *checkForm, bad *faults) {
	if len(c.servers) == 0 {
		return
	}
	s := c.servers[0]
	if k.Alive != nil && k.Alive != false {
		c.checkAlive(k.Alive, s, bad)
	}
	if k.MaxRSS > 0 {
		peak := peakMemory(c.base)
		bad.addIf(peak > k.MaxRSS, "rss %.0f MB", peak)
	}
	bad.addIf(k.ExitsWithin != nil && !s.waitEnd(seconds(*orZero(k.ExitsWithin))), "server still runs")
	if k.ExitStatus != nil {
		code := -1
		if s.ended() {
			code = s.cmd.ProcessState.ExitCode()
		}
		if k.ExitStatus == "nonzero" {
			bad.addIf(code <= 0, "exit status %d", code)
		} else {
			bad.addIf(fmt.Sprint(k.ExitStatus) != fmt.Sprint(code), "exit status %d", code)
		}
	}
	for _, re := range k.StderrRegex {
		bad.addIf(!regexp.MustCompile(re).MatchString(s.log()), "stderr !~ %q: %.200q", re, s.log())
	}
}

func orZero(p *float64) *float64 {
	if p == nil {
		return new(float64)
	}
	return p
}

// checkAlive asks the server for a sign of life, in the session named or any.
func (c *caseRun) checkAlive(want any, s *caseServer, bad *faults) {
	if s.ended() {
		bad.add("the server ended with %d: %s", s.cmd.ProcessState.ExitCode(), clip(s.log(), 200))
		return
	}
	name, named := want.(string)
	if !named {
		for n := range c.clients {
			name = n
			break
		}
	}
	cl, err := c.client(name)
	bad.addIf(err != nil || !cl.ping(), "server does not answer")
}
