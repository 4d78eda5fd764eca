package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"mcp-tools/sandbox"
	"mcp-tools/tools/skills"
)

const (
	// maxResource is how many bytes a resource may have that is read whole.
	maxResource = 4 << 20
	// maxSaved is how many saved results of a session are listed.
	maxSaved = 100
	// maxCompletions is how many completions are given (MCP allows no more).
	maxCompletions = 100
	// skillScheme begins the URIs of skills: skill://NAME/FILE.
	skillScheme = "skill://"
)

// A Resource is something a client can read by its URI.
type Resource struct {
	URI, Name, Description, MIMEType string
	Size                             int64 // 0: not told
}

// Content is what a resource holds: text, or else bytes.
type Content struct {
	MIMEType string
	Text     string
	Bytes    []byte // nil: it is text
}

// ErrNoResource: there is no resource with that URI, or none that may be read.
var ErrNoResource = errors.New("there is no such resource")

// Resources are the skills of this session and the results it has saved.
func (s *Session) Resources(ctx context.Context) []Resource {
	var list []Resource
	for _, k := range s.Skills(ctx) {
		list = append(list, Resource{URI: skillURI(k.Name, skills.File), Name: k.Name, Description: k.Description, MIMEType: "text/markdown"})
	}
	return append(list, s.saved.list()...)
}

func skillURI(name, file string) string {
	return skillScheme + (&url.URL{Path: name + "/" + file}).EscapedPath()
}

// ReadResource reads a skill's file or a file that read_file could read, by the same
// rules. Errors: [ErrNoResource], or a sentence for people.
func (s *Session) ReadResource(ctx context.Context, uri string) (Content, error) {
	if rest, ok := strings.CutPrefix(uri, skillScheme); ok {
		return s.readSkillFile(ctx, rest)
	}
	if len(uri) < 5 || !strings.EqualFold(uri[:5], "file:") {
		return Content{}, ErrNoResource
	}
	f, err := s.openResource(ctx, uri)
	if err != nil {
		return Content{}, err
	}
	return contentOf(f.open())
}

// readSkillFile reads NAME/FILE; without a file, the one that makes it a skill.
func (s *Session) readSkillFile(ctx context.Context, rest string) (Content, error) {
	rest, err := url.PathUnescape(rest)
	if err != nil {
		return Content{}, ErrNoResource
	}
	name, file, _ := strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	if file == "" {
		file = skills.File
	}
	k := skillNamed(s.Skills(ctx), name)
	if k == nil || !filepath.IsLocal(filepath.FromSlash(file)) {
		return Content{}, ErrNoResource
	}
	if path.Clean(file) == skills.File {
		err = s.HeedSkill(ctx, k.Name)
	} else {
		var args []byte
		if args, err = json.Marshal(map[string]string{"file_path": filepath.Join(k.Dir, filepath.FromSlash(file))}); err == nil {
			err = s.heed(ctx, readFileName, args)
		}
	}
	if err != nil {
		return Content{}, err
	}
	data, err := s.skillSource(ctx).Read(k, path.Clean(file), maxResource)
	return contentOf(data, err)
}

// resourceFile is a file of the workspace that may be read.
type resourceFile struct {
	ws *sandbox.Workspace
	p  sandbox.Path
}

// openResource asks the rules as a call of read_file would.
func (s *Session) openResource(ctx context.Context, name string) (resourceFile, error) {
	reader, ok := s.env.Tools.Known(readFileName)
	if !ok || !s.Offers(readFileName) {
		return resourceFile{}, ErrNoResource
	}
	args, err := json.Marshal(map[string]string{"file_path": name})
	if err != nil {
		return resourceFile{}, err
	}
	if err := s.heed(ctx, readFileName, args); err != nil {
		return resourceFile{}, err
	}
	ws, p, err := s.resolve(ctx, name)
	if err != nil {
		return resourceFile{}, ErrNoResource
	}
	subject := subjectAt(ws, p, name)
	if s.policy().refuses(reader, subject) != nil || s.policy().asks(reader, subject, reader.Traits, ModeDontAsk) != "" {
		return resourceFile{}, ErrNoResource
	}
	return resourceFile{ws, p}, nil // the very place that was judged
}

// heed lets hooks see what is read without a call, as the call that it would be.
func (s *Session) heed(ctx context.Context, tool string, args json.RawMessage) error {
	before, _ := s.env.hooks()
	for _, h := range before {
		v, err := h(ctx, HookCall{Tool: tool, Args: args, Session: s.id, Mode: s.mode()})
		if err != nil || v.Args != nil || v.Ask != "" {
			return errors.New("a hook refuses to have it read")
		}
	}
	return nil
}

// HeedSkill lets hooks see that the user calls a skill.
func (s *Session) HeedSkill(ctx context.Context, name string) error {
	args, err := json.Marshal(map[string]string{"skill_name": name})
	if err != nil {
		return err
	}
	return s.heed(ctx, "skill", args)
}

func (f resourceFile) open() ([]byte, error) {
	file, _, err := f.ws.Open(f.p)
	if err != nil {
		return nil, err
	}
	return sandbox.ReadText(file, maxResource)
}

// contentOf is the content of a file that was read.
func contentOf(data []byte, err error) (Content, error) {
	switch {
	case errors.Is(err, sandbox.ErrTooLong):
		return Content{}, fmt.Errorf("it has more than %d MiB; read_file reads it in parts", maxResource>>20)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, sandbox.ErrEscapes):
		return Content{}, ErrNoResource
	case err != nil:
		return Content{}, errors.New(sandbox.Reason(err))
	}
	kind, _, _ := strings.Cut(mimetype.Detect(data).String(), ";")
	if utf8.Valid(data) && !slices.Contains(data, 0) {
		if strings.HasPrefix(kind, "application/octet-stream") {
			kind = "text/plain"
		}
		return Content{MIMEType: kind, Text: string(data)}, nil
	}
	return Content{MIMEType: kind, Bytes: data}, nil
}

// CompletePath are the paths that begin with what was typed of one: absolute, as in a
// file:// URI; more tells that there are others. Folders end in "/".
func (s *Session) CompletePath(ctx context.Context, typed string) (paths []string, more bool) {
	ws, err := s.workspace(ctx)
	if err != nil || !s.Offers(readFileName) {
		return nil, false
	}
	for _, root := range ws.Roots() {
		base := filepath.ToSlash(root.Dir) + "/"
		if strings.HasPrefix(base, typed) && len(typed) < len(base) {
			paths = append(paths, base)
			continue
		}
		if !strings.HasPrefix(typed, base) {
			continue
		}
		dir := typed[:strings.LastIndexByte(typed, '/')+1]
		for _, name := range s.namesIn(ctx, ws, dir) {
			if strings.HasPrefix(dir+name, typed) {
				paths = append(paths, dir+name)
			}
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return paths[:min(len(paths), maxCompletions)], len(paths) > maxCompletions
}

// namesIn are the names in a directory that rules do not hide.
func (s *Session) namesIn(ctx context.Context, ws *sandbox.Workspace, dir string) []string {
	p, err := ws.Resolve(dir)
	if err != nil || !p.Exists || !p.Info.IsDir() {
		return nil
	}
	d, err := ws.OpenAt(p)
	if err != nil {
		return nil
	}
	defer d.Close()
	lister, ok := s.env.Tools.Known("list_files")
	if !ok || s.policy().deniesAll(lister) {
		return nil
	}
	entries, _ := d.Entries()
	var names []string
	for _, e := range entries {
		rel := path.Join(p.Rel(), e.Name)
		if s.policy().hides(lister, ws.SpellingsBelow(p, rel)) || ws.Hides(p, rel) || s.policy().keeps(ws.SpellingsBelow(p, rel)) || !utf8.ValidString(e.Name) {
			continue
		}
		if e.Mode.IsDir() {
			names = append(names, e.Name+"/")
		} else if e.Mode.IsRegular() {
			names = append(names, e.Name)
		}
	}
	return names
}

// CompleteSkill are the names of skills that begin with what was typed.
func (s *Session) CompleteSkill(ctx context.Context, typed string) (names []string, more bool) {
	for _, k := range s.Skills(ctx) {
		if strings.HasPrefix(strings.ToLower(k.Name), strings.ToLower(typed)) {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxCompletions)], len(names) > maxCompletions
}

// savedResults are the latest results that a session has saved. Safe for concurrent
// use; the zero value is ready.
type savedResults struct {
	mu  sync.Mutex
	all []Resource
}

func (r *savedResults) add(tool string, l Link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, Resource{URI: l.URI, Name: filepath.Base(l.Path), Description: "A result of " + tool + ", whole", MIMEType: "text/plain", Size: l.Size})
	r.all = slices.Clone(r.all[max(0, len(r.all)-maxSaved):])
}

func (r *savedResults) list() []Resource {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}
