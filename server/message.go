package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// codeBusy is the JSON-RPC error of a request refused because too many are in
// flight; of the codes left to implementations.
const codeBusy = -32000

// rpcError is a JSON-RPC error.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`

	status int           // of HTTP, where not what the code means; 0: see httpStatus
	retry  time.Duration // when a client that is refused may try again; 0: soon
}

func (e *rpcError) Error() string { return e.Message }

func invalidRequest(msg string) *rpcError {
	return &rpcError{Code: mcp.INVALID_REQUEST, Message: "Invalid request: " + msg}
}

func invalidParams(msg string) *rpcError {
	return &rpcError{Code: mcp.INVALID_PARAMS, Message: "Invalid params: " + msg}
}

func parseError(msg string) *rpcError {
	return &rpcError{Code: mcp.PARSE_ERROR, Message: "Parse error: " + msg}
}

func internalError() *rpcError {
	return &rpcError{Code: mcp.INTERNAL_ERROR, Message: "Internal error: the request failed; the server's log says why"}
}

// envelope is one JSON-RPC message. Its parts share the line's memory.
type envelope struct {
	version, id, method, params, result, fail json.RawMessage
}

// params are the parameters that matter before a request is handed on.
type params struct {
	name, uri                 json.RawMessage
	arguments, meta           json.RawMessage
	inputResponses, state     json.RawMessage
	requestID, cursor         json.RawMessage
	progressToken, revision   json.RawMessage // from _meta
	toolName, protocolVersion string          // decoded
	logLevel                  string          // from _meta, decoded
}

var (
	errNotObject = errors.New("must be an object")
	errTwice     = errors.New("names a member twice")
)

// decodeEnvelope takes a line of valid JSON apart. Names are compared exactly
// and may not repeat: a checker in front of us that reads another one of two
// spellings would see another message.
func decodeEnvelope(line []byte) (m envelope, err error) {
	err = members(line, func(name string, value json.RawMessage) {
		switch name {
		case "jsonrpc":
			m.version = value
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.fail = value
		}
	})
	return m, err
}

// decodeParams takes the parameters of a message apart. None at all and null are
// the same.
func decodeParams(raw json.RawMessage) (p params, fail *rpcError) {
	if !present(raw) {
		return p, nil
	}
	err := members(raw, func(name string, value json.RawMessage) {
		switch name {
		case "name":
			p.name = value
		case "uri":
			p.uri = value
		case "arguments":
			p.arguments = value
		case "_meta":
			p.meta = value
		case "inputResponses":
			p.inputResponses = value
		case "requestState":
			p.state = value
		case "requestId":
			p.requestID = value
		case "cursor":
			p.cursor = value
		}
	})
	if err != nil {
		return p, invalidParams("params " + err.Error())
	}
	if present(p.meta) {
		err = members(p.meta, func(name string, value json.RawMessage) {
			switch name {
			case "progressToken":
				p.progressToken = value
			case mcp.MetaKeyProtocolVersion:
				p.revision = value
			case mcp.MetaKeyLogLevel:
				p.logLevel, _ = unquote(value)
			}
		})
		if err != nil {
			return p, invalidParams("_meta " + err.Error())
		}
	}
	p.protocolVersion, _ = unquote(p.revision)
	return p, nil
}

// check refuses what mcp-go would refuse in the words of its Go types, or not at all.
func (p *params) check(method string) *rpcError {
	switch mcp.MCPMethod(method) {
	case mcp.MethodPromptsGet:
		if name, ok := unquote(p.name); !ok || name == "" {
			return invalidParams("name must be the name of a prompt")
		}
	case mcp.MethodResourcesRead:
		if uri, ok := unquote(p.uri); !ok || uri == "" {
			return invalidParams("uri must be the URI of a resource")
		}
	case mcp.MethodToolsCall:
		name, ok := unquote(p.name)
		if !ok || name == "" {
			return invalidParams("name must be the name of a tool")
		}
		p.toolName = name
	case mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList, mcp.MethodPromptsList:
		if c, ok := unquote(p.cursor); present(p.cursor) && (!ok || c != "") {
			return invalidParams("unknown cursor; the list is one page")
		}
	case mcp.MethodToolsList:
		if c, ok := unquote(p.cursor); present(p.cursor) && (!ok || c != "") {
			return invalidParams("unknown cursor; the list of tools is one page")
		}
	}
	return nil
}

// subject is what a request of a method is about: the header Mcp-Name repeats it.
func (p *params) subject(method string) string {
	raw := p.name
	if method == string(mcp.MethodResourcesRead) {
		raw = p.uri
	}
	s, _ := unquote(raw)
	return s
}

// forward is the message mcp-go gets to see: the arguments of a call begun
// already are left out, or it would decode them four more times.
func forward(seq uint64, method string, raw json.RawMessage, p *params, name string) []byte {
	b := make([]byte, 0, 128+len(raw)-len(p.arguments))
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, `,"method":`...)
	b = appendString(b, method)
	switch {
	case method == string(mcp.MethodToolsCall):
		b = append(b, `,"params":{"name":`...)
		b = appendString(b, name)
		b = appendMember(b, "_meta", p.meta)
		b = appendMember(b, "inputResponses", p.inputResponses)
		b = appendMember(b, "requestState", p.state)
		b = append(b, '}')
	case method == string(mcp.MethodPromptsGet): // one entry stands for all, as with tools
		b = append(b, `,"params":{"name":`...)
		b = appendString(b, anyTool)
		b = appendMember(b, "arguments", p.arguments)
		b = appendMember(b, "_meta", p.meta)
		b = append(b, '}')
	case present(raw):
		b = append(b, `,"params":`...)
		b = append(b, raw...)
	}
	return append(b, '}')
}

func appendMember(b []byte, name string, value json.RawMessage) []byte {
	if !present(value) {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return append(b, value...)
}

// present: the member is there and not null.
func present(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] != 'n' }

// unquote is the string in raw, if it is one.
func unquote(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// idKey is what two spellings of one request id share; "1" and 1 are two ids.
// Only strings and numbers are ids.
func idKey(raw json.RawMessage) (string, bool) {
	if s, ok := unquote(raw); ok {
		return "s" + s, true
	}
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return "", false
	}
	if bytes.ContainsAny(raw, ".eE") {
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f == float64(int64(f)) {
			return "n" + strconv.FormatInt(int64(f), 10), true
		}
	}
	return "n" + string(raw), true
}

// members visits the members of obj, which must be valid JSON. It fails when obj
// is no object or names a member twice; what was visited is then worth nothing.
func members(obj []byte, visit func(name string, value json.RawMessage)) error {
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return errNotObject
	}
	var few [fewNames]span
	names := few[:0]
	for i = skipSpace(obj, i+1); obj[i] != '}'; i = skipSpace(obj, i) {
		if obj[i] == ',' {
			i = skipSpace(obj, i+1)
		}
		end := skipValue(obj, i)
		name, _ := unquote(obj[i:end])
		names = append(names, span{uint32(i), uint32(end)})
		i = skipSpace(obj, skipSpace(obj, end)+1) // over the colon
		end = skipValue(obj, i)
		visit(name, obj[i:end:end])
		i = end
	}
	if repeats(obj, names) {
		return errTwice
	}
	return nil
}

// elements visits the elements of arr, a valid JSON array.
func elements(arr []byte, visit func(value json.RawMessage)) {
	for i := skipSpace(arr, skipSpace(arr, 0)+1); arr[i] != ']'; i = skipSpace(arr, i) {
		if arr[i] == ',' {
			i = skipSpace(arr, i+1)
		}
		end := skipValue(arr, i)
		visit(arr[i:end:end])
		i = end
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipValue is the end of the valid JSON value that begins at b[i].
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i++
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue // never ends a value: only met inside one
		default:
			for i < len(b) && !endsScalar(b[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// endsScalar: no number, true, false or null goes on with c.
func endsScalar(c byte) bool {
	switch c {
	case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}
