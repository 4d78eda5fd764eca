package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// guardedNames are files that run code or change what an agent may do when some
// other program finds them: writing one needs the user's yes. A pattern matches
// at any depth; "*" is any part of a name, a last "**" all below.
var guardedNames = compileGuarded(
	// git runs hooks, and what its configuration names (fsmonitor, pager, filters, aliases).
	".git", ".git/config", ".git/config.worktree", ".git/hooks/**", ".git/info/attributes", ".git/objects/info/**",
	".git/modules/**", ".git/worktrees/**", ".gitconfig", ".git/commondir", ".git/gitdir",
	// A folder with these three is a repository even without the name .git: HEAD is
	// what no other folder needs to have. See also isBareRepository.
	"head",
	// Hosts and agents: servers to start, hooks, permissions.
	".mcp.json", ".claude.json", ".claude/settings*.json", ".claude/hooks/**", ".cursor/**", ".windsurf/**",
	".codex/**", ".gemini/**", ".continue/**", ".roo/**", ".kiro/**", ".amazonq/**", ".zed/**",
	".opencode/**", ".opencode.json", "opencode.json", "opencode.jsonc", "claude_desktop_config.json",
	// Editors run tasks and settings of a folder that is opened.
	".vscode/**", ".vs/**", ".idea/**", ".fleet/**", ".run/**", ".theia/**", ".emacs", ".emacs.d/**", ".devcontainer/**", ".devcontainer.json", "*.code-workspace", ".vimrc", ".nvimrc", ".exrc", ".nvim.lua", ".lvimrc", ".dir-locals.el",
	// Shells and what they load.
	".envrc", ".direnvrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc",
	".config/fish/**", ".config/powershell/**", ".pam_environment", ".xprofile", ".xinitrc", ".xsession",
	".tmux.conf", ".oh-my-zsh/**", ".local/bin/**", ".local/share/applications/**",
	".config/autostart/**", ".config/systemd/**",
	// Other version control, and hooks kept in the tree.
	".hg/hgrc", ".hg/hgrc-not-shared", ".hg/requires", ".hgrc", ".sl/config", ".svn/hooks/**", ".jj/repo/config.toml", ".husky/**", ".githooks/**",
	// Debuggers, interpreters and build tools run these.
	".gdbinit", ".lldbinit", ".irbrc", ".pryrc", ".rprofile", ".psqlrc", ".cargo/config", ".cargo/config.toml",
	".mise.toml", "mise.toml", ".mise/**", ".goose/**", ".screenrc", ".pnpmfile.cjs",
	// Keys, and programs' own configuration that names commands.
	".ssh/**", ".gnupg/**", ".netrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".docker/config.json", ".kube/config",
	".config/mcp-tools/**", ".config/git/**", ".config/zed/**", ".config/code/user/**", "library/application support/code/user/**", ".aws/**",
)

type guardedPattern []string

func compileGuarded(patterns ...string) []guardedPattern {
	out := make([]guardedPattern, len(patterns))
	for i, p := range patterns {
		out[i] = strings.Split(p, "/")
	}
	return out
}

// IsGuarded tells whether writing the place needs the user's yes. Names are
// compared without regard to case and Unicode form, whether or not they exist,
// as seen from every root that holds the place: a root may lie in a guarded
// folder of another, or be one.
func (w *Workspace) IsGuarded(p Path) bool {
	host := p.Host()
	for _, r := range w.roots {
		if rel, ok := below(r.real, host); ok && (isGuardedName(rel) || isGuardedName(filepath.Base(r.real)+"/"+rel)) {
			return true
		}
	}
	return w.isOwnConfig(p) || isBareRepository(p)
}

// isBareRepository tells whether the place is in a repository whose folder is not
// called .git, and would be guarded there.
func isBareRepository(p Path) bool {
	parts := split(p.rel)
	for i := range parts {
		if !isGuardedName(".git/" + join(parts[i:])) {
			continue
		}
		if _, err := p.root.dir.Lstat(join(append(slices.Clone(parts[:i]), "HEAD"))); err == nil {
			return true
		}
	}
	return false
}

func isGuardedName(rel string) bool {
	parts := strings.Split(fold(strings.Map(dropIgnorable, rel)), "/")
	for i, part := range parts {
		parts[i] = windowsName(part)
	}
	for _, pat := range guardedNames {
		if pat.matches(parts) {
			return true
		}
	}
	return false
}

// dropIgnorable drops what HFS+ ignores in a name: ".g\u200cit" is ".git" there.
func dropIgnorable(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// windowsName is the name Windows would open: trailing dots and blanks dropped,
// the short name of .git spelt out.
func windowsName(part string) string {
	if part == "git~1" {
		return ".git"
	}
	if trimmed := strings.TrimRight(part, ". "); trimmed != "" {
		return trimmed
	}
	return part
}

func (g guardedPattern) matches(parts []string) bool {
	for start := range parts {
		if g.matchesAt(parts[start:]) {
			return true
		}
	}
	return false
}

func (g guardedPattern) matchesAt(parts []string) bool {
	for i, pat := range g {
		if pat == "**" {
			return len(parts) > i
		}
		if i >= len(parts) || !matchName(pat, parts[i]) {
			return false
		}
	}
	return len(parts) == len(g)
}

// matchName matches one component; pat has at most one "*".
func matchName(pat, name string) bool {
	head, tail, star := strings.Cut(pat, "*")
	if !star {
		return name == pat
	}
	return len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)
}

func (w *Workspace) isOwnConfig(p Path) bool {
	host := fold(p.Host())
	for _, own := range w.guarded {
		if _, ok := below(filepath.Clean(fold(own)), host); ok {
			return true
		}
	}
	return false
}
