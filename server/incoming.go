package server

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// kind is what a JSON-RPC message is.
type kind int

const (
	isRequest kind = iota
	isNotification
	isResponse
)

// incoming is one JSON-RPC message taken apart.
type incoming struct {
	kind   kind
	id     json.RawMessage // nil: none that can be repeated
	key    string          // what two spellings of the id share
	method string
	params json.RawMessage
	p      params // of a request or a notification, as far as they could be read
	answer answer // of a response
	size   int
}

// modern: 2026-07-28 or later by what the message says itself.
func (m *incoming) modern() bool { return mcp.IsModernProtocol(m.p.protocolVersion) }

// trimText takes off what may stand around a message.
func trimText(text []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
}

// checkText refuses what is not JSON.
func checkText(text []byte) *rpcError {
	switch {
	case len(text) == 0:
		return parseError("the message is empty")
	case !utf8.Valid(text):
		return parseError("the message is not UTF-8")
	case !json.Valid(text):
		return parseError("the message is not JSON, or nested more than 10,000 deep")
	}
	return nil
}

// decode takes a message apart, which must be valid JSON. What it returns is
// never nil, and knows the id a refusal is to be sent with.
func decode(text []byte) (*incoming, *rpcError) {
	m := &incoming{size: len(text)}
	e, err := decodeEnvelope(text)
	if err != nil {
		return m, invalidRequest("a message " + err.Error())
	}
	key, idOK := idKey(e.id)
	if idOK {
		m.id, m.key = e.id, key
	}
	method, isMethod := unquote(e.method)
	switch v, ok := unquote(e.version); {
	case !ok || v != mcp.JSONRPC_VERSION:
		return m, invalidRequest(`jsonrpc must be "2.0"`)
	case e.method == nil && (e.result != nil || e.fail != nil):
		m.kind, m.answer = isResponse, answer{e.result, e.fail}
		return m, nil
	case !isMethod || method == "":
		return m, invalidRequest("method must be a string")
	}
	m.method, m.params = method, e.params
	var fail *rpcError
	m.p, fail = decodeParams(e.params)
	switch {
	case e.id == nil:
		m.kind = isNotification
		if fail != nil { // which nobody can be told: nothing of it is taken
			m.p = params{}
		}
		return m, nil
	case !idOK:
		return m, invalidRequest("id must be a string or a number")
	case fail != nil:
		return m, fail
	}
	return m, m.p.check(method)
}
