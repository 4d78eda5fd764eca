package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// toolOf makes a tool that takes one text.
func toolOf(t Tool, run func(context.Context, *Session, string) (Output, error)) Tool {
	type in struct {
		Text string `json:"text,omitempty" jsonschema:"A text."`
	}
	t.Description = "A tool of a test."
	return New(t, func(ctx context.Context, s *Session, i in) (Output, error) { return run(ctx, s, i.Text) })
}

func sessionOf(t *testing.T, setup func(*Env), list ...Tool) *Session {
	t.Helper()
	p := newPlace(t, nil, func(e *Env) {
		e.Tools = NewRegistry(list...)
		if setup != nil {
			setup(e)
		}
	})
	return p.Session
}

func TestAnUnknownToolIsAResult(t *testing.T) {
	res := sessionOf(t, nil).Call(context.Background(), "nope", nil)
	require.True(t, res.IsError)
	require.Nil(t, res.Tool)
	require.Equal(t, "Unknown tool: nope", res.Text)
}

func TestAPanicIsAResultAndTheNextCallRuns(t *testing.T) {
	s := sessionOf(t, nil, toolOf(Tool{Name: "boom"}, func(_ context.Context, _ *Session, text string) (Output, error) {
		if text == "" {
			panic("secret")
		}
		return Output{Text: text}, nil
	}))
	res := s.Call(context.Background(), "boom", nil)
	require.True(t, res.IsError)
	require.Contains(t, res.Text, "boom failed unexpectedly")
	require.NotContains(t, res.Text, "secret")
	require.Equal(t, "fine", s.Call(context.Background(), "boom", json.RawMessage(`{"text":"fine"}`)).Text)
}

func TestHooksChangeRefuseAndSee(t *testing.T) {
	echo := toolOf(Tool{Name: "echo"}, func(_ context.Context, _ *Session, text string) (Output, error) {
		return Output{Text: "ran with " + text}, nil
	})
	var seen []string
	s := sessionOf(t, func(e *Env) {
		e.Before = []BeforeHook{func(_ context.Context, c HookCall) (HookVerdict, error) {
			switch string(c.Args) {
			case `{"text":"change"}`:
				return HookVerdict{Args: json.RawMessage(`{"text":"changed"}`)}, nil
			case `{"text":"break"}`:
				return HookVerdict{Args: json.RawMessage(`{"text":5}`)}, nil
			case `{"text":"refuse"}`:
				return HookVerdict{}, errors.New("not on Fridays")
			}
			return HookVerdict{}, nil
		}}
		e.After = []AfterHook{func(_ context.Context, c HookCall, res *Result) {
			seen = append(seen, c.Tool+" "+string(c.Args))
			res.Text += "!"
		}}
	}, echo)
	for args, want := range map[string]string{
		"as is":  "ran with as is!",
		"change": "ran with changed!",
		"break":  "Error: a hook changed the arguments: text must be a string, but 5 came!",
		"refuse": "Action denied: not on Fridays!",
	} {
		res := s.Call(context.Background(), "echo", json.RawMessage(`{"text":"`+args+`"}`))
		require.Equal(t, want, res.Text)
	}
	require.Len(t, seen, 4, "a refused call is seen too")
}

func TestCallsBeginInTheOrderTheyAreBegun(t *testing.T) {
	var order []string
	s := sessionOf(t, nil, toolOf(Tool{Name: "note"}, func(_ context.Context, _ *Session, text string) (Output, error) {
		order = append(order, text) // one at a time: no lock is needed, as -race confirms
		return Output{}, nil
	}))
	var calls []*Call
	for _, text := range []string{"a", "b", "c", "d"} {
		calls = append(calls, s.Begin("note", json.RawMessage(`{"text":"`+text+`"}`)))
	}
	done := make(chan struct{})
	for i := len(calls) - 1; i >= 0; i-- {
		go func() { calls[i].Run(context.Background()); done <- struct{}{} }()
	}
	for range calls {
		<-done
	}
	require.Equal(t, []string{"a", "b", "c", "d"}, order)
}

func TestAnAbandonedCallLetsTheNextRun(t *testing.T) {
	s := sessionOf(t, nil, toolOf(Tool{Name: "x"}, func(context.Context, *Session, string) (Output, error) { return Output{Text: "ran"}, nil }))
	s.Begin("x", nil).Abandon()
	require.Equal(t, "ran", s.Call(context.Background(), "x", nil).Text)
}

func TestACancelledCallSaysSo(t *testing.T) {
	s := sessionOf(t, nil, toolOf(Tool{Name: "wait"}, func(ctx context.Context, _ *Session, _ string) (Output, error) {
		<-ctx.Done()
		return Output{}, ctx.Err()
	}))
	ctx, cancel := context.WithCancel(context.Background())
	running := s.Begin("wait", nil)
	queued := s.Begin("wait", nil)
	cancel()
	require.Equal(t, "Error: the call was cancelled", queued.Run(ctx).Text)
	require.Equal(t, "Error: the call was cancelled", running.Run(ctx).Text)
	late, stop := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer stop()
	require.Equal(t, "Error: the call took too long and was ended", s.Call(late, "wait", nil).Text)
}

func TestALargeResultIsSavedWholeAndPreviewed(t *testing.T) {
	text := strings.TrimSuffix(strings.Repeat("0123456789 é\n", 5000), "\n")
	for name, err := range map[string]error{"a success": nil, "a failure": Fail(Output{Text: text})} {
		t.Run(name, func(t *testing.T) {
			s := sessionOf(t, nil, toolOf(Tool{Name: "much"}, func(context.Context, *Session, string) (Output, error) {
				return Output{Text: text, Notes: []string{"a note"}}, err
			}))
			res := s.Call(context.Background(), "much", nil)
			require.Len(t, res.Links, 1)
			saved, readErr := os.ReadFile(res.Links[0].Path)
			require.NoError(t, readErr)
			require.Equal(t, text, string(saved))
			require.Equal(t, err != nil, res.IsError)
			require.Contains(t, res.Text, "[Result too large (69 KB, 5000 lines). Full output saved to "+res.Links[0].Path+". You can use read_file to see the full result.]\n\nPreview (first 200 lines):\n0123")
			require.Less(t, strings.Count(res.Text, "\n"), 210)
			if err == nil {
				require.True(t, strings.HasSuffix(res.Text, "\n[a note]"))
			}
		})
	}
}

func TestAResultThatCannotBeSavedIsStillShown(t *testing.T) {
	s := sessionOf(t, func(e *Env) { e.State = nil }, toolOf(Tool{Name: "much"}, func(context.Context, *Session, string) (Output, error) {
		return Output{Text: strings.Repeat("x\n", 20000)}, nil
	}))
	res := s.Call(context.Background(), "much", nil)
	require.Contains(t, res.Text, "could not be saved")
	require.Contains(t, res.Text, "Preview (first 200 lines):\nx\nx")
	require.Empty(t, res.Links)
}

func TestTruncationKeepsHeadAndTail(t *testing.T) {
	for _, unit := range []string{"a", "é", "界", "🔥"} {
		text := "HEAD" + strings.Repeat(unit, 60000) + "TAIL"
		got := truncateMiddle(text, maxChars)
		require.True(t, utf8.ValidString(got))
		require.True(t, strings.HasPrefix(got, "HEAD"+unit))
		require.True(t, strings.HasSuffix(got, unit+"TAIL"))
		require.Contains(t, got, "\n\n[... truncated 10068 chars ...]\n\n")
		require.LessOrEqual(t, utf8.RuneCountInString(got), maxChars)
		require.Equal(t, keepChars, utf8.RuneCountInString(got[:strings.Index(got, "\n\n[")]))
	}
	exact := strings.Repeat("é", maxChars)
	require.Equal(t, exact, truncateMiddle(exact, maxChars))
}

func FuzzTruncationIsBoundedAndValid(f *testing.F) {
	f.Add("é", 60000)
	f.Add("a\xffb", 30000)
	f.Fuzz(func(t *testing.T, unit string, n int) {
		if n < 0 || n*len(unit) > 1<<20 {
			return
		}
		text := strings.ToValidUTF8(strings.Repeat(unit, n), "\uFFFD")
		got := truncateMiddle(text, maxChars)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxChars {
			t.Fatalf("%d runes", utf8.RuneCountInString(got))
		}
	})
}

func FuzzAnyCallIsAnswered(f *testing.F) {
	for _, row := range [][2]string{{"read_file", `{"file_path":"a"}`}, {"edit", `{}`}, {"write_file", `{"file_path":"x/y","content":"z"}`}, {"glob", `{"pattern":"{{{"}`}, {"grep", `{"pattern":"("}`}, {"", ""}} {
		f.Add(row[0], []byte(row[1]))
	}
	f.Fuzz(func(t *testing.T, tool string, args []byte) {
		if t2, ok := NewRegistry(Builtin()...).Lookup(tool); ok && t2.External {
			return // runs whatever it is told to
		}
		p := newPlace(t, map[string]string{"a": "text\n"})
		res := p.Call(context.Background(), tool, args)
		if res.Text == "" || !utf8.ValidString(res.Text) {
			t.Fatalf("%q %q: %q", tool, args, res.Text)
		}
		if entries, err := os.ReadDir(filepath.Dir(p.dir)); err != nil || len(entries) != 2 { // the workspace and the state
			t.Fatalf("%q %q made something outside: %v", tool, args, entries)
		}
	})
}
