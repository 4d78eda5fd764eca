package search

import (
	"io"
	"strings"

	"mcp-tools/sandbox"
)

// ignores holds the rules in force in one folder: its own files, linked to those
// of the folders above. A folder without ignore files shares its parent's.
//
// .ignore beats .gitignore at whatever level; within a kind the deeper file
// wins, and in a file the last rule. Then come .git/info/exclude and git's
// global excludes.
type ignores struct {
	parent  *ignores
	prefix  int      // length of the folder's path with its "/", below the root
	dot     *ruleSet // .ignore
	git     *ruleSet // .gitignore
	exclude *ruleSet // .git/info/exclude
	repo    bool     // top of a repository: git rules from above end here
	global  *ruleSet
	size    int // bytes of all rules in force
}

// The files that hold rules.
const (
	gitDir      = ".git"
	gitIgnore   = ".gitignore"
	dotIgnore   = ".ignore"
	nodeModules = "node_modules"
)

// enter returns the rules in force in dir, whose path ends in "/" unless it is
// the root (""). has tells whether the folder has an entry of that name.
func (ig *ignores) enter(dir *sandbox.Dir, path string, has func(name string) bool) *ignores {
	next := ignores{parent: ig, prefix: len(path)}
	if has(dotIgnore) {
		next.dot = readIgnore(dir, dotIgnore)
	}
	if has(gitIgnore) {
		next.git = readIgnore(dir, gitIgnore)
	}
	if has(gitDir) {
		next.repo = true
		next.exclude = readExclude(dir)
	}
	if ig != nil {
		next.global, next.size = ig.global, ig.size
	}
	for _, set := range []**ruleSet{&next.dot, &next.git, &next.exclude} {
		if *set == nil {
			continue
		}
		if next.size += (*set).size; next.size > maxIgnoreSum {
			*set = nil
		}
	}
	if next.dot == nil && next.git == nil && !next.repo {
		return ig
	}
	return &next
}

// readIgnore reads an ignore file; one that is missing, unreadable or a link has no rules.
func readIgnore(dir *sandbox.Dir, name string) *ruleSet {
	f, _, err := dir.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxIgnoreFile+1))
	return parseIgnore(text)
}

func readExclude(dir *sandbox.Dir) *ruleSet {
	for _, name := range []string{gitDir, "info"} {
		sub, err := dir.Sub(name)
		if err != nil {
			return nil
		}
		defer sub.Close()
		dir = sub
	}
	return readIgnore(dir, "exclude")
}

// ignored reports whether the rules leave out path, slash-separated below the
// root. Whether a folder above it is ignored is not asked.
func (ig *ignores) ignored(path, base string, isDir bool) bool {
	for set, prefix := range ig.sets {
		if n := set.decide(path[prefix:], base, isDir); n >= 0 {
			return !set.rules[n].negated
		}
	}
	return false
}

// sets runs through the rule sets in force, the one that has the last word first,
// each with the length of the part of a path that it does not see.
func (ig *ignores) sets(yield func(set *ruleSet, prefix int) bool) {
	for l := ig; l != nil; l = l.parent {
		if l.dot != nil && !yield(l.dot, l.prefix) {
			return
		}
	}
	top := ig // the top of the repository, or of all
	for l := ig; l != nil; l = l.parent {
		if l.git != nil && !yield(l.git, l.prefix) {
			return
		}
		if top = l; l.repo {
			break
		}
	}
	if top == nil || top.exclude != nil && !yield(top.exclude, top.prefix) {
		return
	}
	if top.global != nil {
		yield(top.global, top.prefix)
	}
}

// allowBase switches off the rules that ignore the folder a search was asked to
// start in: who names an ignored folder wants to see it.
func (ig *ignores) allowBase(path string, isDir bool) {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for set, prefix := range ig.sets {
		if set.allow(path[prefix:], base, isDir) {
			return
		}
	}
}
