package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

func toolsCommand(std streams) *cobra.Command {
	var cfg config
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "tools [flags]",
		Short: "List the tools as a host sees them",
		Args:  argCount(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if all {
				if err := cmd.Flags().Set("deferred", "list"); err != nil {
					return err
				}
			}
			return withServer(ctx, &cfg, std, func(c *client) error {
				tools, raw, err := c.list(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(std.out, raw)
				}
				printTable(std.out, tools, terminalWidth(std.out))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as the host gets it")
	cmd.Flags().BoolVar(&all, "all", false, "also those that a host finds by tool_search")
	cfg.register(cmd.Flags())
	return cmd
}

func printJSON(w io.Writer, tools []json.RawMessage) error {
	compact, err := json.Marshal(tools)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, out.String())
	return err
}

// printTable prints a name and the first sentence for each tool within width
// columns: side by side, or one below the other where that would be too narrow.
func printTable(w io.Writer, tools []listedTool, width int) {
	longest := 0
	for _, t := range tools {
		longest = max(longest, len(t.Name))
	}
	indent := longest + 2
	if width < indent+30 {
		indent = 2
	}
	for _, t := range tools {
		lines := wrap(firstSentence(t.Description), width-indent)
		if indent == 2 {
			fmt.Fprintln(w, t.Name)
		}
		for i, line := range lines {
			label := ""
			if i == 0 && indent > 2 {
				label = t.Name
			}
			fmt.Fprintf(w, "%-*s%s\n", indent, label, line)
		}
	}
}

// firstSentence ends at the first full stop that a blank or the end follows.
func firstSentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}

// wrap breaks s between words into lines of at most width characters; a longer
// word has a line of its own.
func wrap(s string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(s) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// terminalWidth is COLUMNS if that is set, else the terminal's, else 80.
func terminalWidth(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, 20)
	}
	if f, ok := w.(*os.File); ok {
		if n := columns(f); n > 0 {
			return max(n, 20)
		}
	}
	return 80
}
