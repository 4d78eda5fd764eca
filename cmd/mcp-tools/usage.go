package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError turns a mistake in the flags into a usage error that offers the
// nearest right spelling.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return &usageError{err.Error()}
	}
	name := unknown.GetSpecifiedName()
	if len(name) == 1 && !strings.HasPrefix(err.Error(), "unknown flag") {
		return &usageError{err.Error()}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return usagef("unknown flag --%s%s", name, didYouMean("--", name, names))
}

// noCommand refuses arguments of the bare program: they are mistyped subcommands.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("unknown command %q%s", args[0], didYouMean("", args[0], commandNames(cmd.Root())))
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	return names
}

// argCount checks the number of arguments and says what they are.
func argCount(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s", cmd.CommandPath(), what)
		case len(args) > most && most == 0:
			return usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
		case len(args) > most:
			return usagef("%s takes %s; %q is too much (quote the JSON as one argument)", cmd.CommandPath(), what, args[most])
		}
		return nil
	}
}

func helpCommand(std streams) *cobra.Command {
	var schema bool
	cmd := &cobra.Command{
		Use:   "help [COMMAND | config [--schema]]",
		Short: "Help about a command, or the configuration file",
		RunE: func(cmd *cobra.Command, args []string) error {
			target := cmd.Root()
			if len(args) == 1 && args[0] == "config" {
				return showConfigHelp(std, schema)
			}
			if len(args) > 0 {
				found, rest, err := cmd.Root().Find(args)
				if err != nil || found == cmd.Root() || len(rest) > 0 {
					return usagef("no help on %q%s", args[0], didYouMean("", args[0], commandNames(cmd.Root())))
				}
				target = found
			}
			target.InitDefaultHelpFlag()
			target.InitDefaultVersionFlag()
			return target.Help()
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false, "with config: print the JSON Schema of the file")
	return cmd
}

func showConfigHelp(std streams, schema bool) error {
	if !schema {
		helpConfig(std.out, terminalWidth(std.out))
		return nil
	}
	b, err := configSchema()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(std.out, string(b))
	return err
}

// oneOf is a flag that takes one of a few words.
type oneOf struct {
	value string
	words []string
}

func (o *oneOf) String() string { return o.value }
func (o *oneOf) Type() string   { return strings.Join(o.words, "|") }

// Set takes one of the words, or says which there are.
func (o *oneOf) Set(s string) error {
	for _, w := range o.words {
		if s == w {
			o.value = s
			return nil
		}
	}
	return fmt.Errorf("must be %s%s", listing(o.words), didYouMean("", s, o.words))
}

// listing is "a, b or c".
func listing(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// didYouMean is the end of a message: the word nearest to got, or nothing when
// none is near.
func didYouMean(prefix, got string, words []string) string {
	if w := nearest(got, words); w != "" {
		return "; did you mean " + prefix + w + "?"
	}
	return ""
}

// nearest finds the word that got most likely stands for; "" when none is near.
func nearest(got string, words []string) string {
	got = strings.ToLower(got)
	best, bestDist := "", max(1, (len(got)+1)/3)+1
	for _, w := range words {
		d := distance(got, w)
		if len(got) > 2 && (strings.HasPrefix(w, got) || strings.HasSuffix(w, got) || strings.HasPrefix(got, w)) {
			d = min(d, 1)
		}
		if d < bestDist {
			best, bestDist = w, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, change or swap to get from a to b.
func distance(a, b string) int {
	prev2, prev := []int(nil), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, row
	}
	return prev[len(b)]
}

// isTerminal tells whether a person is at the other end of f. The null device is
// a character device too, but nobody types there.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
