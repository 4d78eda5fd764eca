package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// checkConnection looks at what came over the connections as such.
func (c *caseRun) checkConnection(k *checkForm, bad *faults) {
	var lines []string
	for _, cl := range c.clients {
		lines = append(lines, cl.badLines()...)
	}
	bad.addIf(k.ValidUTF8 && len(lines) > 0, "bad bytes on stdout: %.1q", lines)
	bad.addIf(k.StdoutAllJSON && len(lines) > 0, "not JSON: %.1q", lines)
	if k.NullIDError != nil {
		cl, err := c.client("")
		bad.addIf(err != nil || !cl.hasNullError(*k.NullIDError), "no error %d with id null", *k.NullIDError)
	}
}

// hasNullError tells whether the first answer without an id is that error.
func (c *rpcClient) hasNullError(code int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.answers["null"]
	return len(list) > 0 && fmt.Sprint(dig(any(list[0].err), "code")) == fmt.Sprint(code)
}

// checkAnswers compares answers with one another.
func (c *caseRun) checkAnswers(k *checkForm, bad *faults) {
	for _, s := range k.RPCOK {
		a, _ := c.answer(s)
		bad.addIf(a.result == nil, "rpc %s failed: %.160q", label(s), a.text())
	}
	for _, s := range k.RPCOrTool {
		a, ok := c.answer(s)
		bad.addIf(ok && !a.isError(), "step %s should be an error", label(s))
	}
	if len(k.SameResult) == 2 {
		a, _ := c.answer(k.SameResult[0])
		b, _ := c.answer(k.SameResult[1])
		bad.addIf(a.text() != b.text(), "results differ")
	}
	for _, s := range k.HTTPStatus {
		a, ok := c.answer(s.step)
		right := ok && slices.Contains(s.codes, a.status)
		bad.addIf(!right, "step %s: HTTP %d, want %v: %.160q", label(s.step), a.status, s.codes, a.text())
	}
	c.checkOrder(k.ResponseOrder, bad)
}

func (c *caseRun) checkOrder(steps []any, bad *faults) {
	const never = 1 << 30
	var at []int
	for _, s := range steps {
		by := c.who[label(s)]
		n := never
		if by.client != nil {
			by.client.mu.Lock()
			if i, ok := by.client.arrival[by.id]; ok {
				n = i
			}
			by.client.mu.Unlock()
		}
		at = append(at, n)
	}
	bad.addIf(!slices.IsSorted(at), "answers to %v came as the events %v", steps, at)
}

func (c *caseRun) checkProgress(k *checkForm, bad *faults) {
	if k.Progress != nil {
		for _, cl := range c.clients {
			k.Progress.check(cl.notes("notifications/progress"), bad)
		}
	}
	for _, x := range k.ProgressBefore {
		by := c.who[label(x.Step)]
		if by.client == nil {
			bad.add("no result for step %s", label(x.Step))
			continue
		}
		late := by.client.progressAfter(by.id, x.Token)
		bad.addIf(late > 0, "%d progress notes after the response", late)
	}
}

func (g *progressCheck) check(notes []map[string]any, bad *faults) {
	bad.addIf(g.Max != nil && *g.Max == 0 && len(notes) > 0, "progress without token")
	var mine []float64
	for _, n := range notes {
		if reflect.DeepEqual(dig(n, "params", "progressToken"), g.Token) {
			num, _ := dig(n, "params", "progress").(json.Number)
			f, _ := num.Float64()
			mine = append(mine, f)
		}
	}
	bad.addIf(len(mine) < g.Min, "%d progress notes", len(mine))
	for i := 1; i < len(mine); i++ {
		bad.addIf(g.Increasing && mine[i] <= mine[i-1], "progress does not grow")
	}
	if g.MaxPerS > 0 {
		bad.addIf(float64(len(mine)) > g.MaxPerS*max(1, g.Seconds)+2, "%d progress notes in %v s", len(mine), g.Seconds)
	}
}

// progressAfter counts the progress notes for token that came after the answer.
func (c *rpcClient) progressAfter(id string, token any) (late int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.arrival[id]
	if !ok {
		return 0
	}
	for _, e := range c.events[at:] {
		if e.method == "notifications/progress" && reflect.DeepEqual(dig(e.msg, "params", "progressToken"), token) {
			late++
		}
	}
	return late
}

func (c *caseRun) checkNotes(k *checkForm, bad *faults) {
	count := func(x noteCheck, what string, of func(*rpcClient) int) {
		cl, err := c.client(x.Session)
		if err != nil {
			bad.add("%v", err)
			return
		}
		n := of(cl)
		bad.addIf(n < x.Min || x.Max != nil && n > *x.Max, "%d %s %s", n, what, x.Method)
	}
	for _, x := range k.Notes {
		count(x, "of", func(cl *rpcClient) int { return len(cl.notes(x.Method)) })
	}
	for _, x := range k.Asked {
		count(x, "times asked", func(cl *rpcClient) int { return cl.timesAsked(x.Method) })
	}
}
