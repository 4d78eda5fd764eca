package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

// fixture is a server with tools made for tests.
type fixture struct {
	env *tools.Env
	log bytes.Buffer
	mu  sync.Mutex
	ran []string                 // marks in the order they ran
	let map[string]chan struct{} // what holds wait for
}

func (f *fixture) gate(name string) chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.let[name] == nil {
		f.let[name] = make(chan struct{})
	}
	return f.let[name]
}

func (f *fixture) marks() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.ran...)
}

func (f *fixture) server() *Server {
	return New(f.env, Options{Version: "1", Log: slog.New(slog.NewTextHandler(&f.log, nil))})
}

type textInput struct {
	Text string `json:"text,omitempty" jsonschema:"any text"`
}

type stepsInput struct {
	Count int `json:"count" jsonschema:"how many steps"`
	Every int `json:"every,omitempty" jsonschema:"milliseconds between steps"`
}

type hastyInput struct {
	Text string `json:"text,omitempty" jsonschema:"any text"`
}

func (hastyInput) Validate(*tools.Session) error { panic("too early") }

func newFixture(more ...tools.Tool) *fixture {
	f := &fixture{let: make(map[string]chan struct{})}
	safe := tools.Traits{ReadOnly: true, ConcurrencySafe: true, ClosedWorld: true}
	text := func(run func(context.Context, string) (tools.Output, error)) func(context.Context, *tools.Session, textInput) (tools.Output, error) {
		return func(ctx context.Context, _ *tools.Session, in textInput) (tools.Output, error) {
			return run(ctx, in.Text)
		}
	}
	hold := func(ctx context.Context, s string) (tools.Output, error) {
		select {
		case <-f.gate(s):
			return tools.Output{Text: "held " + s}, nil
		case <-ctx.Done():
			f.mark("cancelled " + s)
			return tools.Output{}, context.Cause(ctx)
		}
	}
	f.env = &tools.Env{Tools: tools.NewRegistry(append(more,
		tools.New(tools.Tool{Name: "echo", Title: "Echo", Description: "Says text.", Aliases: []string{"say"}, Traits: safe},
			text(func(_ context.Context, s string) (tools.Output, error) {
				return tools.Output{Text: s, Meta: map[string]any{"size": len(s)}}, nil
			})),
		tools.New(tools.Tool{Name: "hold", Description: "Waits to be let go.", Traits: safe}, text(hold)),
		tools.New(tools.Tool{Name: "hold_alone", Description: "Waits alone.", External: true}, text(hold)),
		tools.New(tools.Tool{Name: "mark", Description: "Notes text.", Traits: tools.Traits{Additive: true, ClosedWorld: true}},
			text(func(_ context.Context, s string) (tools.Output, error) {
				f.mark(s)
				return tools.Output{Text: "marked " + s}, nil
			})),
		tools.New(tools.Tool{Name: "steps", Description: "Reports progress.", Traits: safe},
			func(ctx context.Context, _ *tools.Session, in stepsInput) (tools.Output, error) {
				p := requestFrom(ctx).progress
				for i := range in.Count {
					if ctx.Err() != nil {
						break
					}
					if p != nil {
						p.report(tools.Progress{Progress: float64(i + 1), Total: float64(in.Count), Message: "step"})
					}
					time.Sleep(time.Duration(in.Every) * time.Millisecond)
				}
				return tools.Output{Text: "stepped"}, ctx.Err()
			}),
		tools.New(tools.Tool{Name: "boom", Description: "Panics.", Traits: safe},
			text(func(context.Context, string) (tools.Output, error) { panic("boom at /some/path") })),
		tools.New(tools.Tool{Name: "goexit", Description: "Ends its goroutine.", Traits: safe},
			text(func(context.Context, string) (tools.Output, error) { runtime.Goexit(); panic("gone") })),
		tools.New(tools.Tool{Name: "hasty", Description: "Panics while checking.", Traits: safe},
			func(context.Context, *tools.Session, hastyInput) (tools.Output, error) { return tools.Output{}, nil }),
		tools.New(tools.Tool{Name: "nan", Description: "Has facts JSON cannot tell.", Traits: safe},
			text(func(context.Context, string) (tools.Output, error) {
				return tools.Output{Text: "x", Meta: map[string]any{"n": math.NaN()}}, nil
			})),
		tools.New(tools.Tool{Name: "deaf", Description: "Ignores its context.", Traits: safe},
			text(func(_ context.Context, s string) (tools.Output, error) {
				<-f.gate(s)
				return tools.Output{Text: "heard"}, nil
			})),
		tools.New(tools.Tool{Name: "roots", Description: "Names the client's roots.", Traits: safe},
			text(func(ctx context.Context, _ string) (tools.Output, error) {
				uris, err := requestFrom(ctx).rootURIs(ctx)
				return tools.Output{Text: strings.Join(uris, " ")}, err
			})),
		tools.New(tools.Tool{Name: "mcp__a__b", Description: "Of another server.", Traits: tools.Traits{Idempotent: true}},
			text(func(context.Context, string) (tools.Output, error) {
				return tools.Output{
					Raw:    []any{json.RawMessage(`{"type":"audio","data":"AA==","mimeType":"audio/wav"}`)},
					Images: []tools.Image{{MIMEType: "image/png", Data: []byte{1}}},
					Links:  []tools.Link{{Name: "all", URI: "file:///s/all", Size: 9}},
				}, nil
			})),
	)...)}
	return f
}

func (f *fixture) mark(s string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ran = append(f.ran, s)
}

// wire is a client at the other end of ServeStdio, inside a synctest bubble.
type wire struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *io.PipeReader
	cancel context.CancelFunc
	ended  chan error

	mu    sync.Mutex
	lines []string
}

func dial(t *testing.T, s *Server) *wire {
	ctx, cancel := context.WithCancel(t.Context())
	w := &wire{t: t, cancel: cancel, ended: make(chan error, 1)}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	w.in, w.out = toServer, fromServer
	go func() {
		err := s.ServeStdio(ctx, in, out)
		out.Close()
		w.ended <- err
	}()
	go func() {
		r := bufio.NewReader(fromServer)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			w.mu.Lock()
			w.lines = append(w.lines, strings.TrimSuffix(line, "\n"))
			w.mu.Unlock()
		}
	}()
	return w
}

// send writes text and lets the server do what it can without waiting.
func (w *wire) send(text string) {
	w.t.Helper()
	_, err := io.WriteString(w.in, text)
	require.NoError(w.t, err)
	synctest.Wait()
}

// got are the lines received since it was last called.
func (w *wire) got() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.lines
	w.lines = nil
	return lines
}

// end waits for ServeStdio to return, without helping it.
func (w *wire) end() error {
	select {
	case err := <-w.ended:
		return err
	case <-time.After(time.Hour):
		return errors.New("ServeStdio did not return")
	}
}

func call(id, tool, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}` + "\n"
}

const (
	modernMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	rootsMeta   = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
)

func initialize(version, capabilities string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":` + capabilities + `,"clientInfo":{"name":"c","version":"1"}}}` + "\n"
}

// anyRoots opens whatever a client names as a workspace.
func anyRoots([]string) (*sandbox.Workspace, error) { return nil, errors.New("not opened in tests") }
