package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"github.com/tailscale/hujson"

	"mcp-tools/tools"
)

// maxConfigFile is the largest configuration file in bytes.
const maxConfigFile = 1 << 20

// fileHooks are the hooks of a file: in our form, or in that of Claude Code's settings.
type fileHooks struct {
	pre, post []tools.HookCommand
}

// ownerRules are what holds for one principal beside what holds for all.
type ownerRules struct {
	Root     []string `json:"root"`
	Allow    []string `json:"allow"`
	Deny     []string `json:"deny"`
	Ask      []string `json:"ask"`
	Mode     string   `json:"mode"`
	ReadOnly bool     `json:"read_only"`
}

// A fileError is a fault of the configuration file, with its place.
func fileError(path string, line int, format string, a ...any) error {
	return usagef("%s:%d: %s", path, line, fmt.Sprintf(format, a...))
}

// fromFile takes what the file sets. must: it has to be there.
func (s *settings) fromFile(path string, must bool) error {
	if path == "" {
		return nil
	}
	data, err := readConfigFile(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil
	}
	if err != nil {
		return usagef("--config %s: %v", path, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return usagef("--config %s: %v", path, err)
	}
	s.file = abs
	std, err := hujson.Standardize(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return usagef("%s: it is not JSON: %v", path, err)
	}
	return eachSetting(std, path, func(key string, value json.RawMessage, line int) error {
		return s.fromKey(path, key, value, line)
	})
}

func readConfigFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	if err == nil && len(data) > maxConfigFile {
		err = fmt.Errorf("it is longer than %d MiB", maxConfigFile>>20)
	}
	return data, err
}

// eachSetting visits the members of the object in a file.
func eachSetting(std []byte, path string, visit func(key string, value json.RawMessage, line int) error) error {
	lineAt := func(offset int64) int { return 1 + bytes.Count(std[:min(int(offset), len(std))], []byte("\n")) }
	d := json.NewDecoder(bytes.NewReader(std))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fileError(path, 1, "want an object of settings")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return fileError(path, lineAt(d.InputOffset()), "it is not JSON: %v", err)
		}
		key, _ := t.(string)
		line := lineAt(d.InputOffset())
		if seen[key] {
			return fileError(path, line, "%q is there twice", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fileError(path, line, "%q: it is not JSON: %v", key, err)
		}
		if err := visit(key, value, line); err != nil {
			return err
		}
	}
	return nil
}

// fromKey takes one setting.
func (s *settings) fromKey(path, key string, value json.RawMessage, line int) error {
	switch key {
	case "$schema":
		return nil
	case "hooks":
		if err := s.hooks.read(value); err != nil {
			return fileError(path, line, "%q: %v", key, err)
		}
		return nil
	case "principals":
		d := json.NewDecoder(bytes.NewReader(value))
		d.DisallowUnknownFields()
		if err := d.Decode(&s.owners); err != nil {
			return fileError(path, line, "%q: want {\"name\": {\"root\", \"allow\", \"deny\", \"ask\", \"mode\", \"read_only\"}}: %v", key, err)
		}
		return nil
	}
	f := s.flagOf(key)
	if f == nil {
		if s.owned(key) {
			return nil
		}
		return fileError(path, line, "unknown key %q%s", key, didYouMean("", key, append(s.keys(), "hooks", "principals")))
	}
	values, err := valuesOf(f, value)
	if err != nil {
		return fileError(path, line, "%q: %v", key, err)
	}
	if !s.may(f.Name) {
		return nil
	}
	if err := s.apply(f, values, fmt.Sprintf("%s:%d", path, line)); err != nil {
		return fileError(path, line, "%q: %v", key, err)
	}
	return nil
}

// valuesOf reads the value of a flag in JSON.
func valuesOf(f *pflag.Flag, value json.RawMessage) ([]string, error) {
	var text string
	isText := json.Unmarshal(value, &text) == nil && value[0] == '"'
	if _, list := f.Value.(pflag.SliceValue); list {
		var all []string
		if isText {
			return []string{text}, nil
		}
		if json.Unmarshal(value, &all) != nil {
			return nil, fmt.Errorf("want a list of texts, but %s came", value)
		}
		return all, nil
	}
	if f.Value.Type() == "bool" {
		if s := string(value); s != "true" && s != "false" {
			return nil, fmt.Errorf("want true or false, but %s came", value)
		}
		return []string{string(value)}, nil
	}
	if !isText {
		return nil, fmt.Errorf("want a text, but %s came", value)
	}
	return []string{text}, nil
}

// read takes hooks in one of two forms.
func (h *fileHooks) read(value json.RawMessage) error {
	var events map[string][]struct {
		Matcher string   `json:"matcher"`
		Command string   `json:"command"`
		Timeout *float64 `json:"timeout"` // ms
		Hooks   []struct {
			Type    string   `json:"type"`
			Command string   `json:"command"`
			Timeout *float64 `json:"timeout"` // s
		} `json:"hooks"`
	}
	if err := json.Unmarshal(value, &events); err != nil {
		return errors.New(`want {"pre_tool": [{"matcher": "run_shell", "command": "…", "timeout": 5000}], "post_tool": […]}`)
	}
	for event, list := range events {
		var to *[]tools.HookCommand
		switch event {
		case "pre_tool", "PreToolUse":
			to = &h.pre
		case "post_tool", "PostToolUse":
			to = &h.post
		default:
			return fmt.Errorf("there is no event %q; there are pre_tool and post_tool", event)
		}
		for _, e := range list {
			if e.Command != "" {
				*to = append(*to, tools.HookCommand{Matcher: e.Matcher, Command: e.Command, Timeout: duration(e.Timeout, time.Millisecond)})
			}
			for _, k := range e.Hooks {
				if k.Type != "" && k.Type != "command" {
					return fmt.Errorf("hooks of the type %q are not known; there is command", k.Type)
				}
				*to = append(*to, tools.HookCommand{Matcher: e.Matcher, Command: k.Command, Timeout: duration(k.Timeout, time.Second)})
			}
			if e.Command == "" && len(e.Hooks) == 0 {
				return errors.New("a hook needs a command")
			}
		}
	}
	return nil
}

func duration(n *float64, unit time.Duration) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n * float64(unit))
}
