// Package skills reads skills: folders with a SKILL.md, which begins with what the
// skill is for and goes on with what a model is to do.
package skills

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// File is the file that makes a folder a skill.
	File = "SKILL.md"
	// MaxFile is how many bytes it may have.
	MaxFile = 256 << 10
	// maxName is how long the name of a skill may be, and maxField one of its other
	// fields, in bytes.
	maxName  = 64
	maxField = 2000
)

// A Skill is one as its file says.
type Skill struct {
	Name        string
	Description string
	When        string   // when to use it
	Hint        string   // what its arguments are
	Tools       []string // that it wants to use without asking
	Fork        bool     // it wants a sub-agent of its own
	Agent       string   // of which type
	ForUser     bool     // a user may call it
	ForModel    bool     // a model may
	Dir         string   // absolute path of its folder

	body string
}

// header is the front matter. Keys that other programs have there are none of ours.
type header struct {
	Name        text `yaml:"name"`
	Description text `yaml:"description"`
	When        text `yaml:"when_to_use"`
	WhenDashed  text `yaml:"when-to-use"`
	Hint        text `yaml:"argument-hint"`
	Tools       list `yaml:"allowed-tools"`
	Context     text `yaml:"context"`
	Agent       text `yaml:"agent"`
	User        flag `yaml:"user-invocable"`
	NoModel     flag `yaml:"disable-model-invocation"`
}

// Parse reads the SKILL.md of a folder with this name. Missing front matter, or one
// that is no YAML, is taken for what it most likely means.
func Parse(folder string, file []byte) (Skill, error) {
	if !utf8.Valid(file) {
		return Skill{}, errors.New("it is not UTF-8 text")
	}
	src := strings.ReplaceAll(string(bytes.TrimPrefix(file, []byte("\ufeff"))), "\r\n", "\n")
	front, body := split(src)
	var h header
	if err := yaml.Unmarshal([]byte(front), &h); err != nil {
		h = byLines(front)
	}
	s := Skill{
		Name: nameOf(string(h.Name), folder), Description: tidy(string(h.Description)), When: tidy(string(h.When) + string(h.WhenDashed)), Hint: tidy(string(h.Hint)),
		Tools: h.Tools, Fork: strings.EqualFold(strings.TrimSpace(string(h.Context)), "fork"), Agent: tidy(string(h.Agent)),
		ForUser: h.User != no, ForModel: h.NoModel != yes, body: strings.TrimSpace(body),
	}
	if s.Name == "" {
		return s, errors.New("it has no name that could be called")
	}
	if s.Description == "" {
		s.Description = tidy(firstWords(s.body))
	}
	return s, nil
}

// split parts the front matter, which stands between two lines of "---", from the rest.
func split(src string) (front, body string) {
	rest, ok := strings.CutPrefix(src, "---")
	first, rest, more := strings.Cut(rest, "\n")
	if !ok || !more || strings.TrimSpace(first) != "" {
		return "", src
	}
	for at := 0; at <= len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		if strings.TrimRight(line, " \t") == "---" {
			return rest[:at], strings.TrimPrefix(rest[at+len(line):], "\n")
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", src
}

// byLines reads "key: value" lines: a description with a colon is no YAML, and common.
func byLines(front string) (h header) {
	fields := map[string]*text{"name": &h.Name, "description": &h.Description, "when_to_use": &h.When, "when-to-use": &h.WhenDashed, "argument-hint": &h.Hint, "context": &h.Context, "agent": &h.Agent}
	flags := map[string]*flag{"user-invocable": &h.User, "disable-model-invocation": &h.NoModel}
	var last *text
	for line := range strings.SplitSeq(front, "\n") {
		key, value, ok := strings.Cut(line, ":")
		indented := line != "" && (line[0] == ' ' || line[0] == '\t')
		if indented && last != nil {
			*last += text(" " + strings.TrimSpace(line))
			continue
		}
		last = nil
		if !ok || indented {
			continue
		}
		value = unquote(strings.TrimSpace(value))
		if f := fields[key]; f != nil {
			*f, last = text(value), f
		} else if f := flags[key]; f != nil {
			*f = flagOf(value)
		} else if key == "allowed-tools" {
			h.Tools = words(value)
		}
	}
	return h
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// text is a scalar of any kind, or a list whose items are joined.
type text string

func (t *text) UnmarshalYAML(n *yaml.Node) error {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag != "!!null" {
			*t = text(n.Value)
		}
	case yaml.SequenceNode:
		var all []string
		for _, c := range n.Content {
			all = append(all, c.Value)
		}
		*t = text(strings.Join(all, " "))
	}
	return nil
}

// list is a list, or words in one scalar.
type list []string

func (l *list) UnmarshalYAML(n *yaml.Node) error {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag != "!!null" {
			*l = words(n.Value)
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if w := tidy(c.Value); w != "" {
				*l = append(*l, w)
			}
		}
	}
	return nil
}

// words parts "Read, Bash(git add *) Grep" at commas and blanks outside parentheses.
func words(s string) []string {
	var out []string
	depth, start := 0, -1
	for i, r := range s + " " {
		end := (r == ',' || unicode.IsSpace(r)) && depth == 0
		switch {
		case end && start >= 0:
			out = append(out, tidy(s[start:i]))
			start = -1
		case !end && start < 0:
			start = i
		}
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		}
	}
	if start >= 0 {
		out = append(out, tidy(s[start:]))
	}
	return out
}

// flag is yes, no, or neither.
type flag int

const (
	unsaid flag = iota
	yes
	no
)

func (f *flag) UnmarshalYAML(n *yaml.Node) error {
	*f = flagOf(n.Value)
	return nil
}

func flagOf(s string) flag {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "on", "1":
		return yes
	case "false", "no", "off", "0":
		return no
	}
	return unsaid
}

// nameOf is the name in the file if it can be one, else that of the folder.
func nameOf(said, folder string) string {
	for _, name := range []string{strings.TrimSpace(said), folder} {
		if name != "" && len(name) <= maxName && !strings.ContainsFunc(name, notInName) {
			return name
		}
	}
	return ""
}

func notInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_.:", r)
}

// tidy is a field on one line, without what nobody sees.
func tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c':
			return -1
		}
		return r
	}, s)
	return cut(strings.Join(strings.Fields(s), " "), maxField)
}

// cut bounds s in bytes, at a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// firstWords is the first paragraph that is no heading.
func firstWords(body string) string {
	for part := range strings.SplitSeq(body, "\n\n") {
		part = strings.TrimSpace(part)
		if part != "" && !strings.HasPrefix(part, "#") {
			return part
		}
		if head, rest, ok := strings.Cut(part, "\n"); ok && strings.HasPrefix(head, "#") {
			return rest
		}
	}
	return strings.TrimSpace(strings.TrimLeft(body, "# "))
}

// placeholder is what is filled in a body.
var placeholder = regexp.MustCompile(`\$ARGUMENTS\[\d{1,2}\]|\$ARGUMENTS\b|\$\{ARGUMENTS\}|\$\{CLAUDE_SKILL_DIR\}`)

// Text is what the model is to do. Arguments that the body has no place for come after
// it; what they hold is never filled in again.
func (s *Skill) Text(args string) string {
	placed := false
	each := strings.Fields(args)
	out := placeholder.ReplaceAllStringFunc(s.body, func(ref string) string {
		if ref == "${CLAUDE_SKILL_DIR}" {
			return s.Dir
		}
		placed = true
		if number, ok := strings.CutPrefix(ref, "$ARGUMENTS["); ok {
			if i, _ := strconv.Atoi(strings.TrimSuffix(number, "]")); i < len(each) {
				return each[i]
			}
			return ""
		}
		return args
	})
	if !placed && strings.TrimSpace(args) != "" {
		out = strings.TrimLeft(out+"\n\nARGUMENTS: "+args, "\n")
	}
	return out
}

// Line is the skill in a list, in at most n bytes.
func (s *Skill) Line(n int) string {
	line := "- " + s.Name + ": " + s.Description
	if s.When != "" {
		line += " " + s.When
	}
	if s.Hint != "" {
		line += fmt.Sprintf(" (args: %s)", s.Hint)
	}
	return cut(line, n)
}
