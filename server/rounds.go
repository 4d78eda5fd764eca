package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"mcp-tools/tools"
)

// In 2026-07-28 a server asks the user by ending the call: its result holds the
// question, and a state that the client sends back with the answer and the call. The
// state is ours alone: signed, bound to the principal and to this very call, and it
// expires.

const (
	// userInput is the key under which the user is asked.
	userInput = "user"
	// stateLife is how long a user may take to answer.
	stateLife = 10 * time.Minute
	// maxHooked bounds the arguments that a state carries because hooks changed them.
	maxHooked = 64 << 10
)

// round is what a state says.
type round struct {
	Key       string          `json:"k"` // of the question
	Principal string          `json:"p,omitempty"`
	Call      []byte          `json:"c"` // digest of tool and arguments
	Expires   int64           `json:"e"` // Unix seconds
	Args      json.RawMessage `json:"a,omitempty"`
	Roots     []string        `json:"r,omitempty"` // that the client has named for the call
}

// sealer signs states with a key of this process.
type sealer struct{ key [32]byte }

func newSealer() *sealer {
	s := &sealer{}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

func (s *sealer) sign(payload string) []byte {
	m := hmac.New(sha256.New, s.key[:])
	m.Write([]byte(payload))
	return m.Sum(nil)
}

func (s *sealer) seal(r round) (string, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	payload := base64.RawURLEncoding.EncodeToString(b)
	return payload + "." + base64.RawURLEncoding.EncodeToString(s.sign(payload)), nil
}

// open reads a state that is ours and has not expired.
func (s *sealer) open(state string, now time.Time) (r round, ok bool) {
	payload, mac, found := strings.Cut(state, ".")
	sum, err := base64.RawURLEncoding.DecodeString(mac)
	if !found || err != nil || !hmac.Equal(sum, s.sign(payload)) {
		return round{}, false
	}
	b, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(b, &r) != nil || now.Unix() > r.Expires {
		return round{}, false
	}
	return r, true
}

// digest tells calls apart.
func (r *request) digest() []byte {
	h := sha256.New()
	h.Write([]byte(r.tool.Name + "\x00"))
	h.Write(r.arguments)
	return h.Sum(nil)
}

// asksInRounds tells whether the client can be asked by ending the call.
func (r *request) asksInRounds(ctx context.Context) bool {
	info := mcpserver.RequestProtocolInfoFromContext(ctx)
	return r.modern && info != nil && info.ClientCapabilities != nil && info.ClientCapabilities.Elicitation != nil
}

// resumed is the answer that came with the call, if it is one to a question about it.
func (r *request) resumed(params mcp.CallToolParams) *tools.Resumed {
	if params.RequestState == "" {
		return nil
	}
	got, ok := r.srv.sealer.open(params.RequestState, time.Now())
	if !ok || got.Principal != r.principal || !hmac.Equal(got.Call, r.digest()) {
		return nil
	}
	if got.Roots != nil && r.roots == nil {
		r.roots = got.Roots
	}
	a := mcpserver.ElicitationResponse(params.InputResponses, userInput)
	if a == nil {
		return nil
	}
	content, err := marshal(a.Content)
	if err != nil {
		return nil
	}
	return &tools.Resumed{Key: got.Key, Answer: tools.Answer{Action: string(a.Action), Content: content}, Args: got.Args}
}

// pending is the result that asks the user.
func (r *request) pending(call *tools.Call, p *tools.Pending) *mcp.CallToolResult {
	state := round{Key: p.Question.Key, Principal: r.principal, Call: r.digest(), Expires: time.Now().Add(stateLife).Unix(), Args: call.HookedArgs(), Roots: r.roots}
	if len(state.Args) > maxHooked {
		return failed("Action denied: a hook has made the arguments too long for the user to be asked. Nothing was done.")
	}
	sealed, err := r.srv.sealer.seal(state)
	if err != nil {
		return failed("Action denied: the user cannot be asked. Nothing was done.")
	}
	return mcpserver.NewInputRequestBuilder(sealed).Elicit(userInput, mcp.ElicitationParams{
		Mode: mcp.ElicitationModeForm, Message: p.Question.Message, RequestedSchema: p.Question.Schema,
	}).ToolResult()
}
