package tools

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

// published is a tool as its snapshot pins it: whoever changes what hosts and
// models see, sees it in the diff.
type published struct {
	Name, Title, Description string
	Aliases                  []string
	Traits                   Traits
	External, Deferred       bool
	InputSchema              json.RawMessage
}

const schemaDir = "../testdata/schemas"

func TestSchemaSnapshots(t *testing.T) {
	want := map[string]bool{}
	for _, tool := range Builtin() {
		want[tool.Name+".json"] = true
		b, err := json.MarshalIndent(published{
			tool.Name, tool.Title, tool.Description, tool.Aliases, tool.Traits, tool.External, tool.Deferred, tool.Schema(),
		}, "", "  ")
		require.NoError(t, err)
		b = append(bytes.ReplaceAll(b, []byte(`\u003c`), []byte("<")), '\n')
		file := filepath.Join(schemaDir, tool.Name+".json")
		if *update {
			require.NoError(t, os.MkdirAll(schemaDir, 0o755))
			require.NoError(t, os.WriteFile(file, b, 0o644))
		}
		old, err := os.ReadFile(file)
		require.NoError(t, err, "no snapshot of %s; run go test ./tools -update and look at what it writes", tool.Name)
		require.Equal(t, strings.ReplaceAll(string(old), "\r\n", "\n"), string(b), "%s is published otherwise than its snapshot says; go test ./tools -update", tool.Name)
	}
	files, err := os.ReadDir(schemaDir)
	require.NoError(t, err)
	for _, f := range files {
		require.True(t, want[f.Name()], "%s is the snapshot of no tool", f.Name())
	}
}

func TestEveryToolKeepsTheRules(t *testing.T) {
	names := regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)
	for _, tool := range Builtin() {
		t.Run(tool.Name, func(t *testing.T) {
			require.Regexp(t, names, tool.Name, "short enough for a host's prefix")
			require.NotEmpty(t, tool.Title)
			require.Less(t, len(tool.Description), 2048)
			first := firstSentence(tool.Description)
			require.Less(t, len(first), 200, "the first sentence says what it does")
			require.False(t, tool.Traits.ReadOnly && tool.External && tool.Traits.ClosedWorld)
			require.False(t, tool.Traits.ConcurrencySafe && !tool.Traits.ReadOnly, "what writes does not run beside others")
			var s jsonschema.Schema
			require.NoError(t, json.Unmarshal(tool.Schema(), &s))
			checkPlain(t, tool.Name, &s, 0)
			require.True(t, bytes.Contains(tool.Schema(), []byte(`"properties"`)))
		})
	}
}

func checkPlain(t *testing.T, at string, s *jsonschema.Schema, depth int) {
	require.NotEmpty(t, s.Type, "%s: one type", at)
	require.Empty(t, s.Types, at)
	require.Empty(t, s.Ref, at)
	require.Empty(t, s.Schema, at)
	require.Empty(t, s.AnyOf, at)
	require.Empty(t, s.OneOf, at)
	require.Nil(t, s.AdditionalProperties, at)
	require.NotEqual(t, "number", s.Type, "%s: counts are integers", at)
	require.LessOrEqual(t, depth, maxSchemaDepth, at)
	if depth > 0 {
		require.NotEmpty(t, s.Description, at)
	}
	if s.Type == "array" {
		require.NotNil(t, s.Items, at)
	}
	for name, p := range s.Properties {
		checkPlain(t, at+"."+name, p, depth+1)
	}
}

// The whole answer to tools/list is to stay below 12 KB.
func TestTheListIsSmall(t *testing.T) {
	total := 0
	for _, tool := range Builtin() {
		if tool.Deferred { // in the list only as long as nothing can find it
			continue
		}
		total += len(tool.Name) + len(tool.Title) + len(tool.Description) + len(tool.Schema()) + 170 // annotations and keys
	}
	require.LessOrEqual(t, total, 11<<10)
}

// What says that it only reads leaves a workspace as it was, whatever it is called with.
func TestReadOnlyToolsLeaveAWorkspaceUntouched(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\ntwo\n", "d/b.go": "package d\n", ".gitignore": "x\n"})
	before := snapshot(t, p.dir)
	for _, tool := range Builtin() {
		if !tool.Traits.ReadOnly {
			continue
		}
		for _, args := range sampleArguments(tool) {
			p.call(tool.Name, args)
		}
	}
	require.Equal(t, before, snapshot(t, p.dir))
}

// sampleArguments fills the parameters of a tool with what may make sense to it.
func sampleArguments(tool Tool) []map[string]any {
	var out []map[string]any
	for _, text := range []string{"a.txt", "d", "**", ".", "new/file", "one"} {
		args := map[string]any{}
		for name, s := range tool.params.schema.Properties {
			switch {
			case len(s.Enum) > 0:
				args[name] = s.Enum[0]
			case s.Type == "string":
				args[name] = text
			case s.Type == "integer":
				args[name] = 1
			case s.Type == "boolean":
				args[name] = true
			}
		}
		out = append(out, args)
	}
	return out
}

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String() + info.ModTime().String()
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += string(b)
		}
		out[path] = text
		return nil
	}))
	return out
}
