package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"mcp-tools/tools"
)

// Every flag can be set in three ways: on the command line, by a variable MCP_TOOLS_…,
// and in the configuration file; the first of these that does so counts. Rules add up:
// what one place forbids no other can allow by saying something else.

const (
	variablePrefix = "MCP_TOOLS_"
	configVariable = "MCP_TOOLS_CONFIG"
)

// unset are the flags that only make sense on a command line.
var unset = []string{"help", "version", "stdio", "config", "json", "all", "schema"}

// addUp are the lists that grow by each place that sets them.
var addUp = []string{"allow", "deny", "ask"}

// settings are where the values of a config come from.
type settings struct {
	flags   *pflag.FlagSet
	origins map[string]string // by flag; none: the default
	given   []string          // the flags of the command line
	file    string            // that was read; "": there is none
	hooks   fileHooks
	owners  map[string]ownerRules
}

// settle takes what the environment and the file say where flags say nothing.
func (c *config) settle(environ []string) error {
	s := &c.set
	s.given = c.args()
	s.origins = make(map[string]string)
	s.flags.Visit(func(f *pflag.Flag) { s.origins[f.Name] = "command line" })
	if err := s.fromEnvironment(environ); err != nil {
		return err
	}
	path, must := c.configFile, true
	if path == "" {
		path = lookup(environ, configVariable)
	}
	if path == "" {
		path, must = defaultConfigFile(), false
	}
	if err := s.fromFile(path, must); err != nil {
		return err
	}
	if c.stdio && s.origins["http"] != "" && s.origins["http"] != "command line" {
		c.http = httpConfig{} // the file is for both ways of serving
	}
	return nil
}

func lookup(environ []string, name string) string {
	for _, v := range slices.Backward(environ) {
		if k, value, _ := strings.Cut(v, "="); k == name {
			return value
		}
	}
	return ""
}

// defaultConfigFile is where the file lies unless it is said; "": nowhere.
func defaultConfigFile() string {
	dir, err := os.UserConfigDir()
	if x := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(x) {
		dir, err = x, nil
	}
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "mcp-tools", "config.json")
}

// may tells whether a place behind the command line may still set a flag.
func (s *settings) may(name string) bool {
	return s.origins[name] == "" || slices.Contains(addUp, name)
}

// keyOf is the name of a flag in the file.
func keyOf(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// keys are the names of all settings.
func (s *settings) keys() []string {
	var keys []string
	s.flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(unset, f.Name) {
			keys = append(keys, keyOf(f.Name))
		}
	})
	return keys
}

// variableMeant is the end of a message about a variable that is none.
func variableMeant(got string, keys []string) string {
	if k := nearest(got, keys); k != "" {
		return "; did you mean $" + variablePrefix + strings.ToUpper(k) + "?"
	}
	return ""
}

func (s *settings) flagOf(key string) *pflag.Flag {
	f := s.flags.Lookup(strings.ReplaceAll(key, "_", "-"))
	if f == nil || slices.Contains(unset, f.Name) {
		return nil
	}
	return f
}

func (s *settings) fromEnvironment(environ []string) error {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		rest, ours := strings.CutPrefix(name, variablePrefix)
		if !ours || name == tokenVariable || name == depthVariable || name == configVariable {
			continue
		}
		f := s.flagOf(strings.ToLower(rest))
		if f == nil {
			if s.owned(strings.ToLower(rest)) {
				continue // of the other way of serving
			}
			return usagef("$%s is no setting%s", name, variableMeant(strings.ToLower(rest), s.keys()))
		}
		if !s.may(f.Name) {
			continue
		}
		values := []string{value}
		if _, list := f.Value.(pflag.SliceValue); list {
			var err error
			if values, err = listOf(value); err != nil {
				return usagef("$%s: %v", name, err)
			}
		}
		if err := s.apply(f, values, "$"+name); err != nil {
			return usagef("$%s: %v", name, err)
		}
	}
	return nil
}

// owned: settings of serving by HTTP, which only the server's own command has.
func (s *settings) owned(key string) bool {
	var c httpConfig
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.register(fs)
	return fs.Lookup(strings.ReplaceAll(key, "_", "-")) != nil
}

// listOf is a list in a variable: JSON, or one value a line.
func listOf(value string) ([]string, error) {
	if strings.HasPrefix(strings.TrimSpace(value), "[") {
		var list []string
		if err := json.Unmarshal([]byte(value), &list); err != nil {
			return nil, fmt.Errorf("want a JSON list of texts, or one value a line")
		}
		return list, nil
	}
	var list []string
	for line := range strings.SplitSeq(value, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list, nil
}

// apply sets a flag and notes where that was said.
func (s *settings) apply(f *pflag.Flag, values []string, origin string) error {
	for _, v := range values {
		if f.Value.Type() == "bool" {
			if _, err := strconv.ParseBool(v); err != nil {
				return fmt.Errorf("want true or false, but %q came", v)
			}
		}
		if err := s.flags.Set(f.Name, v); err != nil {
			return fmt.Errorf("%w", plainFlagError(err))
		}
	}
	if old := s.origins[f.Name]; old != "" {
		origin = old + " and " + origin
	}
	s.origins[f.Name] = origin
	return nil
}

// plainFlagError is what is wrong with a value, without pflag's words around it.
func plainFlagError(err error) error {
	if _, words, ok := strings.Cut(err.Error(), "flag: "); ok {
		return fmt.Errorf("%s", words)
	}
	return err
}

// probe is the config as a server started with the same flags will find it.
func (c *config) probe() (*config, error) {
	var p config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	p.register(flags)
	if err := flags.Parse(c.args()); err != nil {
		return nil, &usageError{err.Error()}
	}
	return &p, p.settle(os.Environ())
}

// fromFlag tells whether the command line itself says so.
func (c *config) fromFlag(name string) bool {
	return strings.HasPrefix(c.set.origins[name], "command line")
}

// policyOptions are the rules as they were set.
func (c *config) policyOptions() tools.PolicyOptions {
	return tools.PolicyOptions{ReadOnly: c.readOnly, Mode: tools.Mode(c.mode.value), Allow: c.allow, Deny: c.deny, Ask: c.ask}
}
