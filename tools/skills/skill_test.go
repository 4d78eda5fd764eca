package skills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       Skill
	}{
		{"all fields", "---\nname: pdf\ndescription: Reads PDF.\nwhen_to_use: With PDF.\nargument-hint: FILE\nallowed-tools: Read, Bash(git add *) Grep\ncontext: fork\nagent: explore\nuser-invocable: false\ndisable-model-invocation: true\n---\n\nDo it.\n",
			Skill{Name: "pdf", Description: "Reads PDF.", When: "With PDF.", Hint: "FILE", Tools: []string{"Read", "Bash(git add *)", "Grep"}, Fork: true, Agent: "explore", body: "Do it."}},
		{"a byte-order mark and CRLF", "\ufeff---\r\nname: \"a\"\r\ndescription: 'b'\r\n---\r\nx\r\ny\r\n", Skill{Name: "a", Description: "b", ForUser: true, ForModel: true, body: "x\ny"}},
		{"a list of tools", "---\nallowed-tools:\n  - Read\n  - Grep\n---\n", Skill{Name: "folder", Tools: []string{"Read", "Grep"}, ForUser: true, ForModel: true}},
		{"a folded description", "---\ndescription: >\n  one\n  two\n---\n", Skill{Name: "folder", Description: "one two", ForUser: true, ForModel: true}},
		{"a colon, which is no YAML", "---\nname: a\ndescription: Use when: x\n  and y\nuser-invocable: no\nallowed-tools: Read\n---\nb", Skill{Name: "a", Description: "Use when: x and y", Tools: []string{"Read"}, ForModel: true, body: "b"}},
		{"no front matter", "# Title\n\nFirst words\nhere.\n\nMore.\n", Skill{Name: "folder", Description: "First words here.", ForUser: true, ForModel: true, body: "# Title\n\nFirst words\nhere.\n\nMore."}},
		{"front matter without end", "---\nname: a\nrest", Skill{Name: "folder", Description: "--- name: a rest", ForUser: true, ForModel: true, body: "---\nname: a\nrest"}},
		{"a rule in the body", "---\nname: a\ndescription: d\n---\nx\n---\ny", Skill{Name: "a", Description: "d", ForUser: true, ForModel: true, body: "x\n---\ny"}},
		{"a name that cannot be called", "---\nname: a b\ndescription: d\n---\n", Skill{Name: "folder", Description: "d", ForUser: true, ForModel: true}},
		{"hidden characters", "---\nname: a\ndescription: \"d\\u202E\\U000E0041x\"\n---\n", Skill{Name: "a", Description: "dx", ForUser: true, ForModel: true}},
		{"numbers and nulls", "---\nname: 7\ndescription: 3.5\nargument-hint:\n---\n", Skill{Name: "7", Description: "3.5", ForUser: true, ForModel: true}},
		{"an object where a text belongs", "---\nname: {a: b}\ndescription: d\n---\n", Skill{Name: "folder", Description: "d", ForUser: true, ForModel: true}},
		{"nothing", "", Skill{Name: "folder", ForUser: true, ForModel: true}},
	} {
		got, err := Parse("folder", []byte(c.file))
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, got, c.name)
	}
	_, err := Parse("a", []byte("\xff\xfe"))
	assert.ErrorContains(t, err, "not UTF-8")
	_, err = Parse("a b", []byte("x"))
	assert.ErrorContains(t, err, "no name that could be called")
}

func TestText(t *testing.T) {
	for _, c := range []struct{ body, args, want string }{
		{"Say $ARGUMENTS now.", "a b", "Say a b now."},
		{"Say ${ARGUMENTS}.", "a", "Say a."},
		{"From ${CLAUDE_SKILL_DIR}/x", "", "From /s/x"},
		{"No place.", "a b", "No place.\n\nARGUMENTS: a b"},
		{"No place.", "  ", "No place."},
		{"$ARGUMENTS[1] $ARGUMENTS[0] $ARGUMENTS[7].", "a b", "b a ."},
		{"$ARGUMENTS", "$ARGUMENTS ${CLAUDE_SKILL_DIR}", "$ARGUMENTS ${CLAUDE_SKILL_DIR}"},
		{"$ARGUMENTSX $OTHER", "", "$ARGUMENTSX $OTHER"},
	} {
		s := Skill{Dir: "/s", body: c.body}
		assert.Equal(t, c.want, s.Text(c.args), c.body)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: b\n---\nbody $ARGUMENTS")
	f.Add("---\ndescription: Use when: x\n  more\nallowed-tools: Bash(a, b) c\n---\n")
	f.Add("\ufeff---\r\na: [\r\n---\r\n")
	f.Fuzz(func(t *testing.T, file string) {
		s, err := Parse("folder", []byte(file))
		if err != nil {
			return
		}
		if s.Name == "" || strings.ContainsAny(s.Name+s.Description+s.When+s.Hint, "\n\r\x00\x1b") || len(s.Line(250)) > 250+len("…") {
			t.Fatalf("%+v", s)
		}
		s.Text("x $ARGUMENTS")
	})
}

func write(t *testing.T, dir, path, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(path))
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
}

func TestWhereSkillsComeFrom(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "ws/.claude/skills/one/SKILL.md", "project one")
	write(t, dir, "ws/.agents/skills/one/SKILL.md", "never")
	write(t, dir, "ws/skills/two/SKILL.md", "project two")
	write(t, dir, "ws/skills/empty/other.md", "no skill")
	write(t, dir, "ws/skills/bad/SKILL.md", "\xff")
	write(t, dir, "home/.claude/skills/ONE/SKILL.md", "never")
	write(t, dir, "home/.claude/skills/three/SKILL.md", "user three")
	write(t, dir, "home/.claude/skills/three/doc/a.md", "a")
	write(t, dir, "home/.claude/skills/three/.git/x", "hidden")
	write(t, dir, "more/four/SKILL.md", "configured four")
	write(t, dir, "elsewhere/five/SKILL.md", "linked five")
	write(t, dir, "secret/SKILL.md", "outside")
	require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere", "five"), filepath.Join(dir, "more", "five")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "ws", "skills", "escape")))
	require.NoError(t, os.Symlink("../.claude/skills/one", filepath.Join(dir, "ws", "skills", "inside")))

	lib := sandbox.NewLibrary(File, []string{filepath.Join(dir, "home/.claude/skills"), filepath.Join(dir, "none"), filepath.Join(dir, "more")})
	ws, err := sandbox.Open([]sandbox.RootSpec{{Dir: filepath.Join(dir, "ws")}}, sandbox.Options{Library: lib})
	require.NoError(t, err)
	t.Cleanup(func() { ws.Close() })
	src := Source{Workspace: ws, Library: lib}
	found, problems := src.All()
	var got []string
	for _, k := range found {
		got = append(got, k.Name+": "+k.Description)
	}
	assert.Equal(t, []string{"one: project one", "inside: project one", "two: project two", "three: user three", "five: linked five", "four: configured four"}, got)
	require.Len(t, problems, 2)
	assert.Equal(t, filepath.Join(dir, "ws/skills/bad"), problems[0].Dir)
	assert.Equal(t, "path escapes workspace", problems[1].Why, "a project's link leads no further than its roots")

	files, more := src.Files(&found[3])
	assert.Equal(t, []string{"doc/a.md"}, files)
	assert.False(t, more)
	data, err := src.Read(&found[3], "doc/a.md", 100)
	require.NoError(t, err)
	assert.Equal(t, "a", string(data))
	_, err = src.Read(&found[3], "doc/a.md", 0)
	assert.ErrorIs(t, err, sandbox.ErrTooLong)

	p, err := ws.Resolve(filepath.Join(found[4].Dir, "SKILL.md"))
	require.NoError(t, err, "a file of a user's skill is read by its full path")
	assert.True(t, p.ReadOnly())
	_, err = ws.Resolve(filepath.Join(dir, "home/.claude/skills/x"))
	assert.Error(t, err)

	write(t, dir, "ws/.claude/skills/one/SKILL.md", "changed")
	found, _ = src.All()
	assert.Equal(t, "changed", found[0].Description, "what changes on the disk shows at once")

	found, _ = Source{Library: lib}.All()
	assert.Len(t, found, 4, "without a workspace")
	found, _ = Source{Workspace: ws, Library: lib, Hidden: func(paths []string) bool {
		for _, p := range paths {
			if strings.Contains(p, "skills/one") || strings.Contains(p, "/three/") {
				return true
			}
		}
		return false
	}}.All()
	for _, k := range found {
		assert.NotContains(t, []string{"one", "inside", "three"}, k.Name, "rules hide it")
	}
}
