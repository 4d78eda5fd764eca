package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// maxGitFile bounds what is read of a file of git's, in bytes.
const maxGitFile = 1 << 20

// GlobalGitIgnore returns the text of git's global excludes: the file that
// core.excludesFile names, or $XDG_CONFIG_HOME/git/ignore. It is read once, when
// first asked for. What is missing, unreadable or no regular file counts as
// empty; of a file over 1 MiB the beginning is returned. Includes in git's
// configuration are not followed.
func GlobalGitIgnore() []byte { return globalGitIgnore() }

var globalGitIgnore = sync.OnceValue(func() []byte {
	home, _ := os.UserHomeDir()
	return gitIgnoreOf(home, os.Getenv("XDG_CONFIG_HOME"))
})

// gitIgnoreOf is GlobalGitIgnore for a home and an XDG_CONFIG_HOME, which may be "".
func gitIgnoreOf(home, xdg string) []byte {
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	path, found := "", false
	for _, config := range []string{gitPath(xdg, "git/config"), gitPath(home, ".gitconfig")} {
		if value, ok := excludesFile(string(readGitFile(config))); ok {
			path, found = value, true // the later file wins
		}
	}
	if !found {
		return readGitFile(gitPath(xdg, "git/ignore"))
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = gitPath(home, rest)
	}
	return readGitFile(path)
}

// gitPath joins a slash path to dir; "" if there is no dir.
func gitPath(dir, path string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

// readGitFile reads the beginning of a regular file at an absolute path.
func readGitFile(path string) []byte {
	if !filepath.IsAbs(path) {
		return nil
	}
	// Opening a FIFO would block.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxGitFile))
	return text
}

// excludesFile finds the last value of core.excludesFile in a configuration.
func excludesFile(config string) (value string, found bool) {
	config = strings.ReplaceAll(strings.TrimPrefix(config, "\ufeff"), "\r\n", "\n")
	config = strings.ReplaceAll(config, "\\\n", "") // a value may go on in the next line
	core := false
	for line := range strings.SplitSeq(config, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			end := strings.IndexByte(line, ']')
			if end < 0 {
				continue
			}
			core = strings.EqualFold(strings.TrimSpace(line[1:end]), "core")
			line = strings.TrimSpace(line[end+1:])
		}
		key, text, ok := strings.Cut(line, "=")
		if ok && core && strings.EqualFold(strings.TrimSpace(key), "excludesFile") {
			value, found = gitValue(text), true
		}
	}
	return value, found
}

// gitValue reads a value: quotes and escapes go, and a comment behind it.
func gitValue(s string) string {
	var out strings.Builder
	quoted := false
	kept := 0 // length without blanks at the end that are not quoted
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			quoted = !quoted
			kept = out.Len()
			continue
		case c == '\\' && i+1 < len(s):
			i++
			c = unescapeGit(s[i])
		case !quoted && (c == '#' || c == ';'):
			return out.String()[:kept]
		case !quoted && (c == ' ' || c == '\t'):
			if out.Len() > 0 {
				out.WriteByte(c)
			}
			continue
		}
		out.WriteByte(c)
		kept = out.Len()
	}
	return out.String()[:kept]
}

func unescapeGit(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}
