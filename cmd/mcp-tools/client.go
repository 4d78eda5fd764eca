package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// A client talks to a server of our own binary over its stdin and stdout, just
// as a host does. Not safe for concurrent use.
type client struct {
	cmd   *exec.Cmd
	stdin io.Closer
	wire  transport.Interface
	ids   int
}

// An rpcError is a protocol error the server answered with.
type rpcError struct {
	code int
	msg  string
}

func (e *rpcError) Error() string { return e.msg }

// noSuchTool tells whether the server has refused the name of a tool: what is
// wrong with its arguments is a result, not a protocol error.
func (e *rpcError) noSuchTool() bool { return e.code == mcp.INVALID_PARAMS }

// A callResult is the result of a tool call: its parts that matter here, and
// the whole as it came.
type callResult struct {
	Content []struct {
		Type, Text, Data, MimeType, URI string
	}
	IsError bool
	raw     json.RawMessage
}

// dial starts a server with the flags of cfg and shakes hands. Close it.
func dial(ctx context.Context, cfg *config, stderr io.Writer) (*client, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, append([]string{"--stdio"}, cfg.args()...)...)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &client{cmd: cmd, stdin: in, wire: transport.NewIO(out, in, io.NopCloser(nil))}
	if err := c.handshake(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// handshake pins a revision that has sessions: what is read in one call may be
// edited in the next.
func (c *client) handshake(ctx context.Context) error {
	m := mcpclient.NewClient(c.wire)
	if err := m.Start(ctx); err != nil {
		return err
	}
	var req mcp.InitializeRequest
	req.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	req.Params.ClientInfo = mcp.Implementation{Name: "mcp-tools", Version: version()}
	_, err := m.Initialize(ctx, req)
	return err
}

// Close ends the server the way a host does, and says how it failed if it did.
func (c *client) Close() error {
	c.stdin.Close()
	// A server gives running calls two seconds and then needs a moment for their children.
	kill := time.AfterFunc(10*time.Second, func() { c.cmd.Process.Kill() })
	defer kill.Stop()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("the server: %w", err)
	}
	return nil
}

// request sends one request and returns the result as it came.
func (c *client) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c.ids++
	resp, err := c.wire.SendRequest(ctx, transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION,
		ID:      mcp.NewRequestId("cli-" + strconv.Itoa(c.ids)),
		Method:  method,
		Params:  params,
	})
	if err != nil {
		return nil, err
	}
	if resp.Error != nil {
		return nil, &rpcError{resp.Error.Code, resp.Error.Message}
	}
	return resp.Result, nil
}

// call runs one tool.
func (c *client) call(ctx context.Context, tool string, args json.RawMessage) (callResult, error) {
	var res callResult
	raw, err := c.request(ctx, string(mcp.MethodToolsCall), map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return res, err
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return res, fmt.Errorf("the server's answer: %w", err)
	}
	res.raw = raw
	return res, nil
}

// A listedTool is what a table of tools needs of one.
type listedTool struct {
	Name, Title, Description string
}

// list asks for all tools, page by page: the parts that matter here, and each
// as it came.
func (c *client) list(ctx context.Context) (tools []listedTool, raw []json.RawMessage, err error) {
	params := map[string]any{}
	for {
		answer, err := c.request(ctx, string(mcp.MethodToolsList), params)
		if err != nil {
			return nil, nil, err
		}
		var page struct {
			Tools      []json.RawMessage
			NextCursor string
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, nil, fmt.Errorf("the server's list: %w", err)
		}
		for _, t := range page.Tools {
			var l listedTool
			if err := json.Unmarshal(t, &l); err != nil {
				return nil, nil, fmt.Errorf("the server's list: %w", err)
			}
			tools, raw = append(tools, l), append(raw, t)
		}
		if page.NextCursor == "" {
			return tools, raw, nil
		}
		params["cursor"] = page.NextCursor
	}
}
