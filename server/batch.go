package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxBatch is how many messages a batch may hold.
const maxBatch = 100

// batch takes an array of messages, which 2025-03-26 alone knows. Their answers
// come in one array, when all are there.
func (p *peer) batch(text []byte, o origin) {
	p.mu.Lock()
	version := p.version
	p.mu.Unlock()
	if version != mcp.ProtocolVersion20250326 {
		o.reply(refusal(nil, invalidRequest("batches belong to revision 2025-03-26, which this client does not use; send one message at a time")))
		return
	}
	var all []json.RawMessage
	elements(text, func(v json.RawMessage) {
		if len(all) <= maxBatch {
			all = append(all, v)
		}
	})
	if len(all) == 0 || len(all) > maxBatch {
		o.reply(refusal(nil, invalidRequest(fmt.Sprintf("a batch holds 1 to %d messages", maxBatch))))
		return
	}
	var mu sync.Mutex
	var answers [][]byte
	left := len(all)
	for _, element := range all {
		p.message(element, origin{batched: true, gone: o.gone, send: o.send, reply: func(r response) bool {
			mu.Lock()
			defer mu.Unlock()
			if r.line != nil {
				answers = append(answers, bytes.TrimSuffix(r.line, []byte("\n")))
			}
			if left--; left > 0 {
				return true // whether the client got it is not known
			}
			var whole []byte
			if len(answers) > 0 {
				whole = append(append([]byte("["), bytes.Join(answers, []byte(","))...), "]\n"...)
			}
			return o.reply(response{line: whole})
		}})
	}
}
