package main

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"mcp-tools/sandbox"
)

// maxClassified is the longest line in bytes that classify reads.
const maxClassified = 1 << 20

// classifyCommand says of command lines what run_shell would take them for: one JSON
// string a line in, one verdict a line out. It is for tests and for the curious.
func classifyCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use:    "classify",
		Short:  "Say of command lines (JSON strings, one a line) whether they only read",
		Hidden: true,
		Args:   argCount(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			lines := bufio.NewScanner(std.in)
			lines.Buffer(nil, maxClassified)
			for n := 1; lines.Scan(); n++ {
				var line string
				if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
					return fmt.Errorf("line %d is no JSON string: %w", n, err)
				}
				v, _ := sandbox.Classify(line)
				fmt.Fprintln(std.out, v)
			}
			return lines.Err()
		},
	}
}
