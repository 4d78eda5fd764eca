package tools

import (
	"fmt"
	"strings"

	"mcp-tools/sandbox"
	"mcp-tools/tools/edit"
)

const (
	// maxLookedBack is how many earlier states of a file, and maxLookedAround how
	// many other files, are looked through for an old_string that was not found.
	maxLookedBack   = 10
	maxLookedAround = 200
	// leastTelling is how many characters must stand elsewhere to tell anything.
	leastTelling = 8
)

// elsewhere says where a text stands that is not in the file at p: in the file as
// it was before an edit of this session, or in another file that it has read. ""
// where that is not known.
func (s *Session) elsewhere(ws *sandbox.Workspace, p sandbox.Path, text string) string {
	if s.opts.Stateless || len(strings.TrimSpace(text)) < leastTelling {
		return ""
	}
	looked := 0
	for _, c := range s.changes.latest(maxChanges) {
		if c.Path != p.Host() {
			continue
		}
		if looked++; looked > maxLookedBack {
			break
		}
		if s.heldBefore(c, text) {
			return fmt.Sprintf("That text stood there before your %s at %s; it was changed then. Read the file again, or take the text from the result of that call.", c.Tool, c.Time.Format("15:04:05"))
		}
	}
	for _, v := range s.seen.all(maxLookedAround) {
		if s.policy().keeps(ws.Spellings(v.path)) {
			continue
		}
		if v.path.Key() != p.Key() && v.text != nil && strings.Contains(*v.text, text) {
			return fmt.Sprintf("That text stands in %s: is that the file you mean?", ws.Show(v.path))
		}
	}
	return ""
}

// heldBefore: the file had the text before a change.
func (s *Session) heldBefore(c change, text string) bool {
	if c.Size > maxSnapshot || c.blocked != "" {
		return false
	}
	content, err := s.env.State.Content(c.Preimage)
	if err != nil {
		return false
	}
	was, err := edit.Decode(content)
	return err == nil && strings.Contains(was.Body, text)
}
