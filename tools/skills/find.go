package skills

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mcp-tools/sandbox"
)

const (
	// maxSkills bounds how many skills there are.
	maxSkills = 500
	// maxFiles is how many of a skill's further files are named, and maxDeep how deep
	// they are looked for.
	maxFiles = 50
	maxDeep  = 4
)

// Dirs are where skills lie below a root or the home directory; the first counts first.
var Dirs = []string{".claude/skills", ".agents/skills", "skills"}

// Source is where skills are looked for: in a workspace, whose skills go before those
// of the library. Either may be nil.
type Source struct {
	Workspace *sandbox.Workspace
	Library   *sandbox.Library
	// Hidden tells of the spellings of a path that it must not be shown.
	Hidden func(spellings []string) bool
}

// A Problem is a skill that cannot be used.
type Problem struct{ Dir, Why string }

// All finds the skills there are now, each name once, and those that cannot be used.
func (s Source) All() (found []Skill, problems []Problem) {
	have := map[string]bool{}
	take := func(dir string, data []byte, err error) {
		if errors.Is(err, fs.ErrNotExist) || len(found) >= maxSkills || len(problems) >= maxSkills {
			return
		}
		var k Skill
		if err == nil {
			k, err = Parse(filepath.Base(dir), data)
		}
		if err != nil {
			problems = append(problems, Problem{dir, sandbox.Reason(err)})
			return
		}
		k.Dir = dir
		if key := strings.ToLower(k.Name); !have[key] {
			have[key] = true
			found = append(found, k)
		}
	}
	if s.Workspace != nil {
		for _, root := range s.Workspace.Roots() {
			for _, dir := range Dirs {
				s.ofProject(filepath.Join(root.Dir, filepath.FromSlash(dir)), take)
			}
		}
	}
	for _, folder := range s.Library.Folders() {
		data, err := s.Read(&Skill{Dir: folder}, File, MaxFile)
		take(folder, data, err)
	}
	return found, problems
}

// ofProject takes the skills of a directory in the workspace.
func (s Source) ofProject(dir string, take func(string, []byte, error)) {
	d, err := s.walk(dir)
	if err != nil {
		return
	}
	defer d.Close()
	entries, _ := d.Entries()
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Mode.IsDir() || e.Mode&fs.ModeSymlink != 0 {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxSkills)] {
		folder := filepath.Join(dir, name)
		data, err := s.readWorkspace(filepath.Join(folder, File), MaxFile)
		take(folder, data, err)
	}
}

// walk opens a directory of the workspace.
func (s Source) walk(dir string) (*sandbox.Dir, error) {
	p, err := s.Workspace.Resolve(dir)
	if err != nil {
		return nil, err
	}
	if !p.Exists || !p.Info.IsDir() {
		return nil, fs.ErrNotExist
	}
	return s.Workspace.OpenAt(p)
}

// Read reads a file of a skill, by its slash path there, of at most limit bytes.
func (s Source) Read(k *Skill, file string, limit int64) ([]byte, error) {
	path := filepath.Join(k.Dir, filepath.FromSlash(file))
	if s.Hidden != nil && s.Hidden([]string{filepath.ToSlash(path)}) {
		return nil, fs.ErrNotExist
	}
	f, _, err := s.Library.Open(k.Dir, file)
	if err == nil {
		return sandbox.ReadText(f, limit)
	}
	if s.Workspace == nil {
		return nil, err
	}
	return s.readWorkspace(path, limit)
}

func (s Source) readWorkspace(path string, limit int64) ([]byte, error) {
	p, err := s.Workspace.Resolve(path)
	if err != nil {
		return nil, err
	}
	if s.Hidden != nil && s.Hidden(s.Workspace.Spellings(p)) {
		return nil, fs.ErrNotExist
	}
	f, _, err := s.Workspace.Open(p)
	if err != nil {
		return nil, err
	}
	return sandbox.ReadText(f, limit)
}

// Files are the further files of a skill, by their slash paths in its folder, as many
// as are named; more tells whether there are others.
func (s Source) Files(k *Skill) (files []string, more bool) {
	d, err := s.Library.Walk(k.Dir)
	if err != nil && s.Workspace != nil {
		d, err = s.walk(k.Dir)
	}
	if err != nil {
		return nil, false
	}
	defer d.Close()
	more = !addFiles(d, "", maxDeep, &files)
	return files, more
}

// addFiles says whether all files were named.
func addFiles(d *sandbox.Dir, prefix string, deep int, files *[]string) bool {
	entries, _ := d.Entries()
	byName := map[string]fs.FileMode{}
	var names []string
	for _, e := range entries {
		byName[e.Name] = e.Mode
		names = append(names, e.Name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch mode := byName[name]; {
		case strings.HasPrefix(name, "."), name == "node_modules", name == "__pycache__":
		case mode.IsRegular() && prefix+name != File:
			if len(*files) >= maxFiles {
				return false
			}
			*files = append(*files, prefix+name)
		case mode.IsDir() && deep > 0:
			sub, err := d.Sub(name)
			if err != nil {
				continue
			}
			all := addFiles(sub, prefix+name+"/", deep-1, files)
			sub.Close()
			if !all {
				return false
			}
		}
	}
	return true
}
