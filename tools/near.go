package tools

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"golang.org/x/text/unicode/norm"

	"mcp-tools/sandbox"
)

const (
	maxNear     = 3     // names offered
	maxNearDir  = 20000 // entries looked at
	maxDistance = 3     // edits between two names
)

// notFound says that a file does not exist, and what the model may have meant.
func (s *Session) notFound(ws *sandbox.Workspace, name string, p sandbox.Path) error {
	shown := shorten(name, maxPathShown)
	if inner, ok := withoutRootName(ws, name); ok {
		return fmt.Errorf("%s does not exist. Did you mean: %s? Paths begin inside the root", shown, inner)
	}
	dir, missing, entries := nearestDir(ws, p)
	entries = slices.DeleteFunc(entries, func(e sandbox.Entry) bool {
		rel := path.Join(dir, e.Name)
		return ws.Hides(p, rel) || s.policy().keeps(ws.SpellingsBelow(p, rel))
	})
	if missing != "" {
		return fmt.Errorf("%s does not exist: there is no folder %s%s", shown, ws.ShowBelow(p, missing), didYouMean(ws.ShowBelow(p, dir), path.Base(missing), entries, true))
	}
	return fmt.Errorf("%s does not exist%s", shown, didYouMean(ws.ShowBelow(p, dir), p.Base(), entries, false))
}

// withoutRootName is a relative path without the name of the first root, with
// which models like to begin, if that exists.
func withoutRootName(ws *sandbox.Workspace, name string) (string, bool) {
	first, rest, ok := strings.Cut(path.Clean(name), "/")
	if !ok || first != path.Base(filepath.ToSlash(ws.Roots()[0].Dir)) {
		return "", false
	}
	p, err := ws.Resolve(rest)
	return rest, err == nil && p.Exists
}

// nearestDir lists the directory p should be in, or the nearest above it that
// exists; missing is then the first part of the path that does not.
func nearestDir(ws *sandbox.Workspace, p sandbox.Path) (dir, missing string, entries []sandbox.Entry) {
	d, err := ws.OpenRoot(p)
	if err != nil {
		return ".", "", nil
	}
	defer func() { d.Close() }()
	dir = "."
	parts := strings.Split(p.Rel(), "/")
	for _, part := range parts[:len(parts)-1] {
		sub, err := d.Sub(part)
		if err != nil {
			missing = path.Join(dir, part)
			break
		}
		d.Close()
		d, dir = sub, path.Join(dir, part)
	}
	entries, _ = d.Entries()
	return dir, missing, entries[:min(len(entries), maxNearDir)]
}

// didYouMean offers names in dir that are like name.
func didYouMean(dir, name string, entries []sandbox.Entry, folders bool) string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, e := range entries {
		if folders && !e.Mode.IsDir() || strings.ContainsFunc(e.Name, isControl) {
			continue
		}
		if d := nameDistance(name, e.Name); d <= maxDistance {
			near = append(near, candidate{path.Join(dir, e.Name), d})
		}
	}
	if len(near) == 0 {
		return ". Use list_files to find it"
	}
	sort.Slice(near, func(i, j int) bool {
		if near[i].distance != near[j].distance {
			return near[i].distance < near[j].distance
		}
		return near[i].name < near[j].name
	})
	var names []string
	for _, c := range near[:min(len(near), maxNear)] {
		names = append(names, c.name)
	}
	return ". Did you mean: " + strings.Join(names, ", ") + "?"
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// nameDistance is how unlike two names are: 0 when they differ only in case or
// Unicode form, 1 when only the extension does, else the number of edits; more
// than maxDistance for names that have nothing in common.
func nameDistance(a, b string) int {
	a, b = strings.ToLower(norm.NFC.String(a)), strings.ToLower(norm.NFC.String(b))
	if a == b {
		return 0
	}
	stemA, stemB := strings.TrimSuffix(a, path.Ext(a)), strings.TrimSuffix(b, path.Ext(b))
	if stemA == stemB && stemA != "" {
		return 1
	}
	limit := min(maxDistance, max(1, len([]rune(a))/3))
	if d := editDistance([]rune(a), []rune(b), limit); d <= limit {
		return d
	}
	return maxDistance + 1
}

// editDistance counts insertions, deletions, replacements and exchanges of
// neighbours (optimal string alignment); beyond limit it may stop early.
func editDistance(a, b []rune, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		next[0] = i + 1
		least := next[0]
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
			least = min(least, next[j+1])
		}
		if least > limit { // no later row comes below it
			return limit + 1
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
