package main

import (
	"cmp"
	"maps"
	"slices"
)

// client is the connection of the named session, made when first asked for.
func (c *caseRun) client(name string) (*rpcClient, error) {
	c.connecting.Lock()
	defer c.connecting.Unlock()
	c.mu.Lock()
	cl := c.clients[name]
	c.mu.Unlock()
	if cl != nil {
		return cl, nil
	}
	cl, err := c.connect(name)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.clients[name] = cl
	c.mu.Unlock()
	return cl, nil
}

func (c *caseRun) connect(name string) (*rpcClient, error) {
	la, err := c.launchForm()
	if err != nil {
		return nil, err
	}
	form := la.session(name)
	s, err := c.server(c.serverOf(name, form, la.transport()))
	if err != nil {
		return nil, err
	}
	modern := form.Era == "modern"
	if la.transport() == "http" {
		cl := newRPCClient(newHTTPLink(s, la.token(form.Token), form), *form.Client, modern)
		return cl, cl.shakeHands(form.Protocol)
	}
	l := &stdioLink{w: s.stdin, gone: s.done}
	cl := newRPCClient(l, *form.Client, modern)
	go l.read(cl, s.stdout)
	return cl, cl.shakeHands(form.Protocol)
}

// session is how the named session is to be: what its form leaves out is as for
// all of them.
func (la *launchForm) session(name string) sessionForm {
	f := la.SessionForms[name]
	f.Era = cmp.Or(f.Era, la.Era)
	f.Protocol = cmp.Or(f.Protocol, la.Protocol, "2025-06-18")
	f.Client = cmp.Or(f.Client, &la.Client)
	return f
}

// serverOf is the number of the process that a session talks to: by HTTP the
// first, over stdio one of its own.
func (c *caseRun) serverOf(name string, f sessionForm, transport string) int {
	switch {
	case f.Server != nil:
		return *f.Server
	case transport == "http":
		return 0
	}
	return max(slices.Index(c.sessions, name), 0)
}

// token is that of the principal; of the first one by name if none is named, and
// "" if there are none.
func (la *launchForm) token(principal string) string {
	if principal == "" && len(la.Tokens) > 0 {
		principal = slices.Min(slices.Collect(maps.Keys(la.Tokens)))
	}
	return la.Tokens[principal]
}

func (la *launchForm) transport() string { return cmp.Or(la.Transport, "stdio") }
