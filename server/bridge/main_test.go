package bridge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"mcp-tools/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.Helper(os.Args) {
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "serve-as" {
		misbehave(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// misbehave is a server of 2025-06-18 on stdin and stdout, with a fault of its own.
func misbehave(how string) {
	out := bufio.NewWriter(os.Stdout)
	send := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		out.Write(append(b, '\n'))
		out.Flush()
	}
	answer := func(id json.RawMessage, result any) {
		send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
	}
	switch how {
	case "exit":
		fmt.Fprintln(os.Stderr, "no \x1b[31mlicence")
		os.Exit(3)
	case "deaf":
		select {} // reads nothing either
	}
	tool := func(name string) map[string]any {
		return map[string]any{"name": name, "description": "Does " + name + ".", "inputSchema": map[string]any{
			"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}},
		}, "annotations": map[string]any{"readOnlyHint": true, "openWorldHint": false}}
	}
	names := []string{"echo", "crash", "stall", "flood", "long", "progress", "ask", "change", "env", "junk", "big"}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name            string
				ProtocolVersion string
				Arguments       struct{ Text string }
				Meta            struct{ ProgressToken json.RawMessage } `json:"_meta"`
				RequestID       json.RawMessage                         `json:"requestId"`
			}
			Result json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if m.Method == "notifications/cancelled" {
			fmt.Fprintln(os.Stderr, "cancelled", string(m.Params.RequestID))
		}
		if m.ID == nil || m.Method == "" {
			continue
		}
		switch m.Method {
		case "initialize":
			answer(m.ID, map[string]any{"protocolVersion": m.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{"listChanged": true}}, "serverInfo": map[string]any{"name": "x", "version": "1"}})
		case "tools/list":
			var list []any
			for _, n := range names {
				list = append(list, tool(n))
			}
			answer(m.ID, map[string]any{"tools": list})
		case "tools/call":
			text := m.Params.Arguments.Text
			words := func(s string) map[string]any {
				return map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}}
			}
			switch m.Params.Name {
			case "echo":
				answer(m.ID, words("echo "+text))
			case "crash":
				fmt.Fprintln(os.Stderr, "last words")
				os.Exit(9)
			case "stall": // says nothing, goes on reading
			case "flood":
				junk := strings.Repeat("x", 1<<20)
				for {
					out.WriteString(junk + "\n")
				}
			case "long":
				for range 20 << 10 {
					out.WriteString(strings.Repeat("y", 1<<10))
				}
				out.Flush()
			case "progress":
				for i := range 3 {
					send(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{"progressToken": m.Params.Meta.ProgressToken, "progress": i + 1, "total": 3, "message": "step"}})
				}
				answer(m.ID, words("done"))
			case "ask":
				send(map[string]any{"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": map[string]any{"message": "Colour?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}}}})
				reply, _ := in.ReadBytes('\n')
				answer(m.ID, words("told "+strings.TrimSpace(string(reply))))
			case "change":
				names = append(names, text)
				send(map[string]any{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
				answer(m.ID, words("changed"))
			case "env":
				answer(m.ID, words(os.Getenv(text)))
			case "junk":
				answer(m.ID, map[string]any{"content": []any{17}})
			case "big":
				answer(m.ID, map[string]any{"isError": text == "error", "structuredContent": map[string]any{"n": 1}, "content": []any{
					map[string]any{"type": "text", "text": strings.Repeat("line\n", 8000)},
					map[string]any{"type": "image", "data": "AAAA", "mimeType": "image/png"},
					map[string]any{"type": "text", "text": "end"},
				}})
			}
		default:
			if how == "silent" { // as some that know no later method
				continue
			}
			send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no " + m.Method}})
		}
	}
}
