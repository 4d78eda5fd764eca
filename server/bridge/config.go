package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

const (
	// maxServers bounds the servers of all configurations.
	maxServers = 100
	// defaultTimeout is how long a call may take unless the entry says otherwise.
	defaultTimeout = 10 * time.Minute
	maxTimeout     = 24 * time.Hour
)

// An Entry is one server of a configuration.
type Entry struct {
	Name string // as configured
	Key  string // as it stands in the names of its tools

	// Of a server that is a program to be started:
	Command string
	Args    []string
	Env     []string // NAME=value
	Dir     string

	// Of one to be reached by HTTP:
	URL     string
	Headers map[string]string

	Listed      bool     // its tools are in the list from the start
	Trusted     bool     // its tools' annotations are believed
	Allow, Deny []string // patterns of its tools' names, as it calls them; none to allow: all
	Timeout     time.Duration

	// Broken says why the server cannot be used, if so.
	Broken string
}

// entryJSON is an entry as it stands in the file. What other programs keep there
// besides is none of ours.
type entryJSON struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Cwd      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Disabled bool              `json:"disabled"`
	Enabled  *bool             `json:"enabled"`
	Deferred *bool             `json:"deferred"`
	Trusted  bool              `json:"trusted"`
	Allow    []string          `json:"allow"`
	Deny     []string          `json:"deny"`
	Timeout  *float64          `json:"timeout"` // milliseconds
}

// Parse reads a configuration: JSON, with comments and trailing commas if need be,
// that has the servers under "mcpServers" (or "servers", as VS Code calls them), in
// the order of the file. lookup finds the values of ${NAME}. An error says what is
// wrong, and in which server; one whose values cannot be found is only marked.
func Parse(file []byte, lookup func(string) (string, bool)) ([]Entry, error) {
	std, err := hujson.Standardize(bytes.TrimPrefix(slices.Clone(file), []byte("\ufeff")))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	var top struct {
		MCPServers json.RawMessage `json:"mcpServers"`
		Servers    json.RawMessage `json:"servers"`
	}
	if err := json.Unmarshal(std, &top); err != nil {
		return nil, fmt.Errorf("it must be an object with mcpServers: %w", err)
	}
	servers := top.MCPServers
	if servers == nil {
		servers = top.Servers
	}
	if servers == nil {
		return nil, errors.New(`it has no "mcpServers"`)
	}
	var list []Entry
	err = eachMember(servers, func(name string, value json.RawMessage) error {
		e, use, err := parseEntry(name, value, lookup)
		if err != nil {
			return fmt.Errorf("server %q: %w", name, err)
		}
		if use {
			list = append(list, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, checkKeys(list)
}

// checkKeys refuses servers whose tools could not be told apart.
func checkKeys(list []Entry) error {
	if len(list) > maxServers {
		return fmt.Errorf("there are %d servers, and at most %d can be used", len(list), maxServers)
	}
	for i, e := range list {
		for _, other := range list[:i] {
			if strings.EqualFold(e.Key, other.Key) {
				return fmt.Errorf("the tools of %q and of %q would both be called mcp__%s__…: rename one", other.Name, e.Name, other.Key)
			}
		}
	}
	return nil
}

// Join puts the servers of several configurations together.
func Join(lists ...[]Entry) ([]Entry, error) {
	all := slices.Concat(lists...)
	return all, checkKeys(all)
}

// eachMember visits the members of an object in the order of the text.
func eachMember(object json.RawMessage, visit func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("mcpServers must be an object: {\"name\": {\"command\": …}}")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if seen[name] {
			return fmt.Errorf("server %q is there twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := visit(name, value); err != nil {
			return err
		}
	}
	return nil
}

func parseEntry(name string, value json.RawMessage, lookup func(string) (string, bool)) (e Entry, use bool, err error) {
	var in entryJSON
	if err := json.Unmarshal(value, &in); err != nil {
		return e, false, plainTypeError(err)
	}
	if in.Disabled || in.Enabled != nil && !*in.Enabled {
		return e, false, nil
	}
	e = Entry{Name: name, Key: wordOf(name), Dir: in.Cwd, Listed: in.Deferred != nil && !*in.Deferred, Trusted: in.Trusted, Allow: in.Allow, Deny: in.Deny, Timeout: defaultTimeout}
	if e.Key == "" {
		return e, false, errors.New("a server needs a name with letters or digits")
	}
	for _, p := range slices.Concat(in.Allow, in.Deny) {
		if _, err := path.Match(p, ""); err != nil {
			return e, false, fmt.Errorf("%q is no pattern of a tool's name", p)
		}
	}
	if in.Timeout != nil {
		e.Timeout = time.Duration(min(*in.Timeout, float64(maxTimeout/time.Millisecond)) * float64(time.Millisecond))
		if *in.Timeout < 1 {
			return e, false, fmt.Errorf("timeout is in milliseconds, and %v is too little", *in.Timeout)
		}
	}
	x := expander{lookup: lookup}
	if err := e.takeTarget(in, &x); err != nil {
		return e, false, err
	}
	if len(x.missing) > 0 {
		e.Broken = "its configuration wants " + strings.Join(x.missing, ", ") + ", which is not set in the environment"
	}
	return e, true, e.checkURL()
}

// takeTarget says what to start, or where to go.
func (e *Entry) takeTarget(in entryJSON, x *expander) error {
	kind := strings.ToLower(in.Type)
	switch {
	case in.Command != "" && in.URL != "":
		return errors.New("it has both a command and a url: which is meant?")
	case in.Command != "" && (kind == "" || kind == "stdio"):
		e.Command, e.Dir = x.expand(in.Command), x.expand(in.Cwd)
		for _, a := range in.Args {
			e.Args = append(e.Args, x.expand(a))
		}
		for name, v := range in.Env {
			if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(v, 0) {
				return fmt.Errorf("env: %q is no variable", name)
			}
			e.Env = append(e.Env, name+"="+x.expand(v))
		}
		slices.Sort(e.Env)
		return nil
	case in.URL != "" && kind == "sse":
		e.URL = in.URL
		e.Broken = "it is of the type sse, the transport of 2024-11-05, which is not supported: most such servers have a streamable HTTP address too"
		return nil
	case in.URL != "" && (kind == "" || strings.HasSuffix(kind, "http")):
		e.URL, e.Headers = x.expand(in.URL), make(map[string]string)
		for name, v := range in.Headers {
			e.Headers[name] = x.expand(v)
		}
		return nil
	case in.Command == "" && in.URL == "":
		return errors.New("it needs a command to start, or the url of a server")
	}
	return fmt.Errorf("type %q does not fit the rest; there are stdio, with a command, and http, with a url", in.Type)
}

func (e *Entry) checkURL() error {
	if e.URL == "" || e.Broken != "" {
		return nil
	}
	u, err := url.Parse(e.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("its url is none of http or https")
	}
	return nil
}

// plainTypeError says what is of the wrong type in the words of JSON.
func plainTypeError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	came := map[string]string{"array": "a list", "object": "an object", "bool": "true or false"}[wrong.Value]
	if came == "" {
		came = "a " + wrong.Value
	}
	kind := wrong.Type.String()
	kind = map[string]string{"string": "a string", "bool": "true or false", "float64": "a number", "bridge.entryJSON": "an object", "[]string": "a list of strings", "map[string]string": "an object of strings"}[kind]
	if kind == "a string" && (wrong.Field == "env" || wrong.Field == "headers") {
		return fmt.Errorf("each value in %s must be a string, but %s came", wrong.Field, came)
	}
	if wrong.Field == "" {
		return fmt.Errorf("it must be an object, but %s came", came)
	}
	return fmt.Errorf("%s must be %s, but %s came", wrong.Field, kind, came)
}

// variable is ${NAME} or ${NAME:-default}; VS Code writes ${env:NAME}.
var variable = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

// expander fills in variables and remembers those that it does not know.
type expander struct {
	lookup  func(string) (string, bool)
	missing []string
}

func (x *expander) expand(s string) string {
	return variable.ReplaceAllStringFunc(s, func(ref string) string {
		m := variable.FindStringSubmatch(ref)
		if v, ok := x.lookup(m[1]); ok && (v != "" || !strings.Contains(ref, ":-")) {
			return v
		}
		if strings.Contains(ref, ":-") {
			return m[2]
		}
		if !slices.Contains(x.missing, m[1]) {
			x.missing = append(x.missing, m[1])
		}
		return ""
	})
}

// offers tells whether the entry lets a tool of the server be offered, by the name
// the server has for it.
func (e *Entry) offers(tool string) bool {
	matches := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, _ := path.Match(p, tool)
			return ok || p == tool
		})
	}
	return !matches(e.Deny) && (len(e.Allow) == 0 || matches(e.Allow))
}

// wordOf makes a name one of the letters that all models and hosts take in the name
// of a tool.
func wordOf(name string) string {
	word := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case r == utf8.RuneError:
			return -1
		}
		return '_'
	}, name)
	if strings.Trim(word, "_-") == "" {
		return ""
	}
	return word
}
