package server

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// errorLine is the answer to a request that failed. id nil: it could not be read.
func errorLine(id json.RawMessage, fail *rpcError) []byte {
	body, err := marshal(fail)
	if err != nil {
		body, _ = marshal(&rpcError{Code: fail.Code, Message: fail.Message})
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"error":`...)
	b = append(b, body...)
	return append(b, "}\n"...)
}

// resultLine is the answer to a request.
func resultLine(id json.RawMessage, result any) ([]byte, error) {
	b := append(make([]byte, 0, 512), `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b, err := appendResult(b, result)
	if err != nil {
		return nil, err
	}
	return append(b, "}\n"...), nil
}

// appendResult writes text results by hand: encoding/json would copy and check
// the text of each three times.
func appendResult(b []byte, result any) ([]byte, error) {
	r, ok := result.(*mcp.CallToolResult)
	if !ok || r == nil || r.StructuredContent != nil || r.NeedsInput() {
		return appendJSON(b, result)
	}
	var err error
	b = append(b, `{"content":[`...)
	for i, c := range r.Content {
		if i > 0 {
			b = append(b, ',')
		}
		if t, ok := c.(mcp.TextContent); ok && t.Meta == nil && t.Annotations == nil {
			b = append(b, `{"type":"text","text":`...)
			b = appendString(b, t.Text)
			b = append(b, '}')
		} else if b, err = appendJSON(b, c); err != nil {
			return nil, err
		}
	}
	b = append(b, ']')
	if len(r.RawStructuredContent) > 0 {
		b = append(b, `,"structuredContent":`...)
		if b, err = appendJSON(b, r.RawStructuredContent); err != nil { // compact: a line break would end the message
			return nil, err
		}
	}
	if r.IsError {
		b = append(b, `,"isError":true`...)
	}
	if r.ResultType != "" {
		b = append(b, `,"resultType":`...)
		b = appendString(b, string(r.ResultType))
	}
	if r.Meta != nil {
		b = append(b, `,"_meta":`...)
		if b, err = appendJSON(b, r.Meta); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendJSON(b []byte, v any) ([]byte, error) {
	body, err := marshal(v)
	return append(b, body...), err
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// appendString appends s as a JSON string. What is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(b, s[start:i]...)
				b = append(b, "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
