package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

func callCommand(std streams) *cobra.Command {
	var cfg config
	var asJSON bool
	cmd := &cobra.Command{
		Use:   `call TOOL ['{"json":"args"}'] [flags]`,
		Short: "Run one tool and print its result",
		Long: `Runs one tool through a server of its own and prints the result's text.

  call TOOL JSON   one call; without JSON the arguments are {}
  call -           reads lines TOOL {"json":"args"} from stdin: all in one session,
                   so that a file read in one line can be edited in the next.
                   Empty lines and lines that begin with # are skipped. Each
                   result stands below its line, marked with >. An error result
                   does not end the session.

Exit code: 0 when every call went well, 1 when one did not, 2 for a wrong
command line or wrong JSON.`,
		Example: `  mcp-tools call list_files '{"pattern":"**/*.go"}'
  mcp-tools call run_shell '{"command":"go test ./..."}' --root ~/project
  printf '%s\n' 'read_file {"file_path":"a.txt"}' \
    'edit_file {"file_path":"a.txt","old_string":"x","new_string":"y"}' | mcp-tools call -`,
		Args: argCount(1, 2, "a tool, and perhaps its arguments as JSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			show := &printer{w: std.out, asJSON: asJSON, terminal: onTerminal(std.out)}
			if args[0] == "-" {
				if len(args) > 1 {
					return usagef("call - reads the arguments from stdin")
				}
				return callLines(cmd.Context(), &cfg, std, show)
			}
			return callOne(cmd.Context(), &cfg, std, show, args)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result as JSON, one a line")
	cfg.register(cmd.Flags())
	return cmd
}

// callOne runs the tool args[0] with the arguments args[1], if any.
func callOne(ctx context.Context, cfg *config, std streams, show *printer, args []string) error {
	in := json.RawMessage("{}")
	if len(args) > 1 {
		var err error
		if in, err = parseArguments(args[1]); err != nil {
			return usagef("arguments of %s: %v", args[0], err)
		}
	}
	return withServer(ctx, cfg, std, func(c *client) error {
		res, err := c.call(ctx, args[0], in)
		if err != nil {
			return unknownTool(ctx, c, args[0], err)
		}
		show.result(res)
		if show.failed != nil {
			return fmt.Errorf("writing the result: %w", show.failed)
		}
		if res.IsError {
			return errReported
		}
		return nil
	})
}

// callLines runs each line of stdin in one session.
func callLines(ctx context.Context, cfg *config, std streams, show *printer) error {
	return withServer(ctx, cfg, std, func(c *client) error {
		failed := false
		lines, readErr := readLines(ctx, std.in)
		n := 0
		for line := range lines {
			n++
			if show.failed != nil {
				return fmt.Errorf("writing the results: %w", show.failed)
			}
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			tool, rest, _ := strings.Cut(line, " ")
			in, err := parseArguments(rest)
			if err != nil {
				return usagef("line %d: arguments of %s: %v", n, tool, err)
			}
			show.header(line)
			res, err := c.call(ctx, tool, in)
			var rpc *rpcError
			switch {
			case errors.As(err, &rpc):
				fmt.Fprintf(std.err, "mcp-tools: line %d: %v\n", n, unknownTool(ctx, c, tool, err))
				failed = true
			case err != nil:
				return err
			default:
				show.result(res)
				failed = failed || res.IsError
				if res.IsError {
					fmt.Fprintf(std.err, "mcp-tools: line %d: %s: error result\n", n, tool)
				}
			}
		}
		if err := readErr(); err != nil {
			return fmt.Errorf("reading stdin: %w", err)
		}
		if show.failed != nil {
			return fmt.Errorf("writing the results: %w", show.failed)
		}
		if failed {
			return errReported
		}
		return nil
	})
}

// maxInputLine bounds a line of call -.
const maxInputLine = 64 << 20

// readLines yields the lines of r until it ends or ctx does, even while a read
// waits; then failed tells what went wrong, if anything.
func readLines(ctx context.Context, r io.Reader) (lines <-chan string, failed func() error) {
	out := make(chan string)
	var err error
	go func() {
		defer close(out)
		fed := make(chan string)
		ended := make(chan error, 1)
		go func() {
			scan := bufio.NewScanner(r)
			scan.Buffer(nil, maxInputLine)
			for scan.Scan() {
				select {
				case fed <- scan.Text():
				case <-ctx.Done():
					return
				}
			}
			ended <- scan.Err()
		}()
		for {
			select {
			case line := <-fed:
				select {
				case out <- line:
				case <-ctx.Done():
				}
			case err = <-ended:
				return
			case <-ctx.Done():
				err = ctx.Err()
				return
			}
		}
	}()
	return out, func() error { return err }
}

// withServer runs do with a server that has the flags of cfg.
func withServer(ctx context.Context, cfg *config, std streams, do func(*client) error) error {
	// What the server would refuse is refused here, in one clear message.
	probe, err := cfg.probe()
	if err != nil {
		return err
	}
	_, closeEnv, err := newEnv(probe, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	closeEnv()
	c, err := dial(ctx, cfg, std.err)
	if err != nil {
		return err
	}
	err = do(c)
	closed := c.Close()
	if err == nil {
		return closed
	}
	return err
}

// parseArguments takes one JSON object; nothing means {}. The error tells where
// the JSON goes wrong.
func parseArguments(s string) (json.RawMessage, error) {
	if strings.TrimSpace(s) == "" {
		return json.RawMessage("{}"), nil
	}
	dec := json.NewDecoder(strings.NewReader(s))
	var obj map[string]json.RawMessage
	err := dec.Decode(&obj)
	at := dec.InputOffset()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil && obj == nil:
		return nil, errors.New("want a JSON object, got null")
	case err == nil:
		if rest := strings.TrimSpace(s[at:]); rest != "" {
			return nil, fmt.Errorf("%s: %q follows the JSON object", position(s, at), clip(rest, 20))
		}
		return json.RawMessage(s), nil
	case errors.As(err, &kind):
		return nil, fmt.Errorf("want a JSON object, got %s", kind.Value)
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("%s: %v", position(s, max(syntax.Offset-1, 0)), err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: the JSON ends too early", position(s, int64(len(s))))
	}
	return nil, err
}

// position names the place of the byte at offset as a person counts.
func position(s string, offset int64) string {
	before := s[:min(int(offset), len(s))]
	line := strings.Count(before, "\n")
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	if line == 0 {
		return fmt.Sprintf("column %d", column)
	}
	return fmt.Sprintf("line %d, column %d", line+1, column)
}

// unknownTool turns the server's answer that there is no such tool into a usage
// error with the nearest right name; other errors stay as they are.
func unknownTool(ctx context.Context, c *client, name string, err error) error {
	var rpc *rpcError
	if !errors.As(err, &rpc) || !rpc.noSuchTool() {
		return err
	}
	tools, _, lerr := c.list(ctx)
	if lerr != nil {
		return err
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return usagef("unknown tool %q; there are %s%s", name, strings.Join(names, ", "), didYouMean("", name, names))
}

// A printer shows results to a person, or to a program as JSON lines.
type printer struct {
	w        io.Writer
	terminal bool
	asJSON   bool
	calls    int
	failed   error // the first write that did not go through
}

func (p *printer) print(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format, args...); err != nil && p.failed == nil {
		p.failed = err
	}
}

// header shows the line a result belongs to.
func (p *printer) header(line string) {
	if p.asJSON {
		return
	}
	if p.calls++; p.calls > 1 {
		p.print("\n")
	}
	p.print("> %s\n", p.safe(clip(line, 200)))
}

func (p *printer) result(res callResult) {
	if p.asJSON {
		var line bytes.Buffer
		if json.Compact(&line, res.raw) == nil {
			p.print("%s\n", line.String())
		}
		return
	}
	for _, c := range res.Content {
		switch c.Type {
		case "text":
			p.print("%s\n", p.safe(strings.TrimSuffix(c.Text, "\n")))
		case "resource_link": // the text names the file too
		default:
			p.print("[%s %s, shown by --json]\n", c.Type, c.MimeType)
		}
	}
}

// onTerminal tells whether what is written to w is shown on a terminal.
func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}

// safe shows control characters as escapes on a terminal, which would obey them;
// elsewhere the text stays as it is.
func (p *printer) safe(text string) string {
	if !p.terminal {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// clip keeps the first n runes of s.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
