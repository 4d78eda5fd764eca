package server

import (
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// logLevels are the levels of the protocol, the mildest first.
var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning,
	mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

// SetLogLevel makes the client be told what is at least as grave; until then it
// is told nothing.
func (r *request) SetLogLevel(level mcp.LoggingLevel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.peer.logLevel = level
}

func (r *request) GetLogLevel() mcp.LoggingLevel {
	if r.modern {
		return r.logLevel
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.peer.logLevel
}

// callLog is what a client is told of a call of its.
type callLog struct {
	Event  string `json:"event"`
	Tool   string `json:"tool"`
	TookMS int64  `json:"took_ms"`
	Error  bool   `json:"error,omitempty"`
}

// tellLog tells the client how a call went, if it wants to know: info for an error
// result, debug for others. What the server itself logs is not the client's
// business: it may name other clients' things.
func (x *exchange) tellLog() {
	if x.method != string(mcp.MethodToolsCall) {
		return
	}
	level := mcp.LoggingLevelDebug
	if x.isError {
		level = mcp.LoggingLevelInfo
	}
	wanted := slices.Index(logLevels, x.GetLogLevel())
	if wanted < 0 || slices.Index(logLevels, level) < wanted {
		return
	}
	n := mcp.NewLoggingMessageNotification(level, name, callLog{"call", x.toolName, time.Since(x.began).Milliseconds(), x.isError})
	line, err := marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		mcp.LoggingMessageNotification
	}{mcp.JSONRPC_VERSION, n})
	if err == nil {
		x.send(append(line, '\n'))
	}
}
