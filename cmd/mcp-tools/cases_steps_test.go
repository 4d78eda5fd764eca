package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

const callTimeout = 20 * time.Second

type stepFunc func(*caseRun, *stepForm, string) error

// kind is what the step does; nil: nothing.
func (s *stepForm) kind() stepFunc {
	switch {
	case s.Parallel != nil:
		return (*caseRun).doParallel
	case s.Sh != nil:
		return (*caseRun).doShell
	case s.BgSh != nil:
		return (*caseRun).doBackground
	case s.StopBg:
		return (*caseRun).doStopBackground
	case s.Sleep != nil:
		return func(_ *caseRun, s *stepForm, _ string) error { time.Sleep(seconds(*s.Sleep)); return nil }
	case s.WaitFile != nil:
		return (*caseRun).doWaitFile
	case s.Restart != nil:
		return (*caseRun).doRestart
	case s.Signal != nil:
		return (*caseRun).doSignal
	case s.CLI != nil:
		return (*caseRun).doCLI
	case s.HTTP != nil:
		return (*caseRun).doHTTP
	case s.RawHTTP != nil:
		return (*caseRun).doRawHTTP
	case s.Delete != nil:
		return (*caseRun).doDelete
	case s.Forget != nil:
		return (*caseRun).doForget
	case s.Raw != nil, s.RawB64 != nil:
		return (*caseRun).doRaw
	case s.Notify != nil:
		return (*caseRun).doNotify
	case s.Pipeline != nil:
		return (*caseRun).doPipeline
	case s.RPC != nil:
		return (*caseRun).doRPC
	case s.Call != nil:
		return (*caseRun).doCall
	}
	return nil
}

// step runs one step; what goes wrong with it is a complaint.
func (c *caseRun) step(raw any, label string) {
	vars := c.copyVars()
	if m, ok := raw.(map[string]any); ok && m["parallel"] != nil {
		vars = nil // each of them is filled in when its turn comes
	}
	var s stepForm
	err := decodeForm(expand(raw, vars), &s)
	if err == nil {
		time.Sleep(seconds(s.Delay))
		err = s.kind()(c, &s, label)
	}
	if err != nil {
		c.complain("step %s: %v", label, err)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (c *caseRun) put(label string, a answer, by sentBy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[label] = a
	c.all = append(c.all, a)
	c.who[label] = by
}

func (c *caseRun) doParallel(s *stepForm, label string) error {
	var wg sync.WaitGroup
	for i, x := range s.Parallel {
		wg.Go(func() { c.step(x, fmt.Sprintf("%s.%d", label, i)) })
		time.Sleep(4 * time.Millisecond) // so that they arrive in order
	}
	wg.Wait()
	return nil
}

func (c *caseRun) doRestart(s *stepForm, _ string) error {
	srv, err := c.server(s.Server)
	if err != nil {
		return err
	}
	if bad := srv.stop(s.Restart == "kill"); bad != "" {
		c.complain("%s", bad)
	}
	c.mu.Lock()
	if !s.KeepClients {
		clear(c.clients)
	}
	c.mu.Unlock()
	return srv.start()
}

func (c *caseRun) doSignal(s *stepForm, _ string) error {
	srv, err := c.server(s.Server)
	if err != nil {
		return err
	}
	return srv.signal(*s.Signal)
}

func (c *caseRun) doRaw(s *stepForm, _ string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	var b []byte
	if s.RawB64 != nil {
		if b, err = base64.StdEncoding.DecodeString(*s.RawB64); err != nil {
			return err
		}
	} else {
		b = []byte(*s.Raw)
	}
	if !s.NoNewline {
		b = append(b, '\n')
	}
	cl.pipe().send(b)
	settle := .3
	if s.Settle != nil {
		settle = *s.Settle
	}
	time.Sleep(seconds(settle))
	return nil
}

func (c *caseRun) doNotify(s *stepForm, label string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	c.put(label, cl.notify(*s.Notify, optional(s.Params)), sentBy{})
	return nil
}

// optional is nil for JSON that is not there, so that it is left out.
func optional(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return raw
}

func (c *caseRun) doPipeline(s *stepForm, label string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	var out strings.Builder
	var ids []string
	for _, m := range s.Pipeline {
		id := cl.nextID()
		ids = append(ids, fmt.Sprint(id))
		var params any = map[string]any{}
		if m.Params != nil {
			params = m.Params
		}
		if cl.modern {
			params = cl.withMeta(params)
		}
		out.WriteString(compact(map[string]any{"jsonrpc": "2.0", "id": id, "method": m.Method, "params": params}) + "\n")
	}
	text := out.String()
	if s.NoNewline {
		text = strings.TrimSuffix(text, "\n")
	}
	start := time.Now()
	cl.pipe().send([]byte(text))
	if s.CloseStdin {
		cl.pipe().w.Close()
	}
	end := start.Add(s.timeout())
	for i, id := range ids {
		a := cl.pipe().wait(cl, id, max(100*time.Millisecond, time.Until(end)))
		a.seconds = time.Since(start).Seconds()
		c.put(fmt.Sprintf("%s.%d", label, i), a, sentBy{cl, id})
	}
	return nil
}

func (s *stepForm) timeout() time.Duration {
	switch {
	case s.TimeoutS > 0:
		return seconds(s.TimeoutS)
	case s.cutShort():
		return 4 * time.Second
	}
	return callTimeout
}

// cutShort: an answer may well never come.
func (s *stepForm) cutShort() bool { return s.CancelAfter != nil || s.CloseStdinAfter != nil }

// patience is the timeout, short once the server has failed to answer.
func (c *caseRun) patience(s *stepForm) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hung {
		return min(s.timeout(), 3*time.Second)
	}
	return s.timeout()
}

func (c *caseRun) doRPC(s *stepForm, label string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	a := cl.init
	id := ""
	if s.RPC.Method != "initialize" || s.RPC.Again {
		a = cl.request(s.RPC.Method, optional(s.RPC.Params), c.patience(s), s.onSending(cl, &id))
	}
	c.put(label, a, sentBy{cl, id})
	return c.save(s, a)
}

func (c *caseRun) doCall(s *stepForm, label string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	params := map[string]any{"name": *s.Call, "arguments": map[string]any{}}
	if s.Args != nil {
		params["arguments"] = s.Args
	}
	if s.ProgressToken != nil {
		params["_meta"] = map[string]any{"progressToken": s.ProgressToken}
	}
	start := time.Now()
	var a answer
	for k := range max(s.Repeat, 1) {
		id := ""
		a = cl.request("tools/call", params, c.patience(s), s.onSending(cl, &id))
		a.seconds = time.Since(start).Seconds()
		c.put(label, a, sentBy{cl, id})
		if a.fault == noAnswer && !s.cutShort() {
			c.mu.Lock()
			c.hung = true
			c.mu.Unlock()
		}
		if a.fault != "" && s.Repeat > 0 {
			return fmt.Errorf("no answer to call %d", k+1)
		}
		if s.RepeatS > 0 && time.Since(start) > seconds(s.RepeatS) {
			break
		}
	}
	return c.save(s, a)
}

// onSending notes the id of the request, and later cancels it or closes the input
// if the step says so.
func (s *stepForm) onSending(cl *rpcClient, id *string) func(int) {
	return func(n int) {
		*id = fmt.Sprint(n)
		if s.CancelAfter != nil {
			time.AfterFunc(seconds(*s.CancelAfter), func() {
				cl.notify("notifications/cancelled", map[string]any{"requestId": n, "reason": "test"})
			})
		}
		if s.CloseStdinAfter != nil {
			time.AfterFunc(seconds(*s.CloseStdinAfter), func() { cl.pipe().w.Close() })
		}
	}
}

func (c *caseRun) save(s *stepForm, a answer) error {
	var errs []error
	for name, how := range s.Save {
		value := how.of(a)
		if value == "" {
			errs = append(errs, fmt.Errorf("nothing to save as %s in %.300q", name, a.text()))
			value = how.Default
		}
		c.setVar(name, value)
	}
	return errors.Join(errs...)
}

// of is the part of the answer to be saved; "" if it is not there.
func (how *saveForm) of(a answer) string {
	if how.Header != "" {
		return a.header.Get(how.Header)
	}
	if how.Path == nil {
		if m := regexp.MustCompile(how.Regex).FindStringSubmatch(a.text()); m != nil {
			return m[1]
		}
		return ""
	}
	if x := dig(a.whole(), how.Path...); x != nil {
		return fmt.Sprint(x)
	}
	return ""
}
