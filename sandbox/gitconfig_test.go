package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExcludesFile(t *testing.T) {
	for _, c := range []struct {
		reason, config, want string
		found                bool
	}{
		{"plain", "[core]\n\texcludesFile = ~/.ignore\n", "~/.ignore", true},
		{"another section", "[user]\n\texcludesFile = x\n", "", false},
		{"a subsection is another one", "[core \"x\"]\nexcludesFile = x\n", "", false},
		{"case does not count", "[CORE]\nExcludesfile=/a\n", "/a", true},
		{"on the line of the section", "[core] excludesfile = /a\n", "/a", true},
		{"the last one wins", "[core]\nexcludesfile = /a\nexcludesfile = /b\n", "/b", true},
		{"quotes keep blanks", "[core]\nexcludesfile = \"/a b \" \n", "/a b ", true},
		{"a comment behind", "[core]\nexcludesfile = /a b ; x\n", "/a b", true},
		{"escapes", `[core]` + "\n" + `excludesfile = "C:\\x\"y"` + "\n", `C:\x"y`, true},
		{"goes on in the next line", "[core]\nexcludesfile = /a\\\nb\n", "/ab", true},
		{"set to nothing", "[core]\nexcludesfile =\n", "", true},
		{"commented out", "[core]\n# excludesfile = /a\n", "", false},
		{"line ends of Windows", "[core]\r\nexcludesfile = /a\r\n", "/a", true},
		{"open section", "[core\nexcludesfile = /a\n", "", false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got, found := excludesFile(c.config)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.found, found)
		})
	}
}

func TestGitIgnoreOf(t *testing.T) {
	home := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	assert.Empty(t, gitIgnoreOf(home, ""), "nothing there")
	assert.Empty(t, gitIgnoreOf("", ""), "no home")

	put(".config/git/ignore", "default")
	put("xdg/git/ignore", "xdg")
	assert.Equal(t, "default", string(gitIgnoreOf(home, "")))
	assert.Equal(t, "xdg", string(gitIgnoreOf(home, filepath.Join(home, "xdg"))))

	put(".config/git/config", "[core]\nexcludesFile = ~/one\n")
	put("one", "1")
	put("two", "2")
	assert.Equal(t, "1", string(gitIgnoreOf(home, "")))
	put(".gitconfig", "[core]\nexcludesFile = "+filepath.ToSlash(filepath.Join(home, "two"))+"\n")
	assert.Equal(t, "2", string(gitIgnoreOf(home, "")), "~/.gitconfig wins")

	require.NoError(t, os.Mkdir(filepath.Join(home, "dir"), 0o755))
	put(".gitconfig", "[core]\nexcludesFile = ~/dir\n")
	assert.Empty(t, gitIgnoreOf(home, ""), "not a regular file")
}
