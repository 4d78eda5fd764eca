package tools

import "time"

// An AuditLine says of one call what was decided and how it ended: never what it held.
type AuditLine struct {
	Time      time.Time     `json:"time"`
	Principal string        `json:"principal,omitempty"`
	Session   string        `json:"session"`
	Tool      string        `json:"tool"`
	Verdict   string        `json:"verdict"` // see below
	Took      time.Duration `json:"-"`
	Millis    float64       `json:"ms"`
	Bytes     int           `json:"bytes"` // of the result's text
}

// Verdicts of an audit line.
const (
	verdictInvalid = "invalid" // the arguments were none, or the tool
	verdictDenied  = "denied"  // by rules, a hook or the user
	verdictAsking  = "asking"  // the user is asked; the call comes again
	verdictFailed  = "failed"  // it ran, and its result is an error
	verdictDone    = "done"
)

// audit tells how the call ended.
func (c *Call) audit(res *Result) {
	if c.s.env.Audit == nil {
		return
	}
	name := shorten(c.name, maxWord)
	if c.tool != nil {
		name = c.tool.Name
	}
	verdict := c.verdict
	switch {
	case res.Pending != nil:
		verdict = verdictAsking
	case verdict == "" && res.IsError:
		verdict = verdictFailed
	case verdict == "":
		verdict = verdictDone
	}
	took := time.Since(c.began)
	c.s.env.Audit(AuditLine{
		Time: c.began.UTC(), Principal: c.s.opts.Principal, Session: c.s.id, Tool: name, Verdict: verdict,
		Took: took, Millis: float64(took.Microseconds()) / 1000, Bytes: len(res.Text),
	})
}
