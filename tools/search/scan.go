package search

import (
	"bytes"
	"context"
	"io"
)

// A scanner searches files, one at a time. Workers have one each.
type scanner struct {
	prog *program
	q    *Query
	src  source
}

// fileResult is what a scanner found in one file.
type fileResult struct {
	lines      []Line // for Content mode: the matching lines asked for, with context
	matches    int    // matching lines
	binary     bool   // all of them are one
	unreadable bool   // at least in part
	long       int
	split      bool
}

// scan searches what r reads and keeps the matching lines from, …, to-1 (Content
// mode), or stops at the first (FilesWithMatches). When ctx ends it stops early.
func (s *scanner) scan(ctx context.Context, path string, r io.Reader, from, to int) fileResult {
	rec := recorder{path: path, q: s.q, from: from, to: to}
	defer s.src.release()
	err := s.src.open(ctx, r, s.prog.multiline)
	for err == nil {
		var text []byte
		if text, err = s.src.window(); text == nil || !s.window(ctx, &rec, text) {
			break
		}
	}
	return fileResult{
		lines: rec.lines, matches: rec.matches, binary: rec.binary,
		unreadable: err != nil && ctx.Err() == nil,
		long:       s.src.long, split: s.src.split,
	}
}

// window searches one window and reports whether to go on.
func (s *scanner) window(ctx context.Context, rec *recorder, text []byte) (more bool) {
	nul := 0
	lines := text // as the recorder wants them: every one ended
	if !s.src.binary {
		nul = bytes.IndexByte(text, 0)
		if !bytes.HasSuffix(lines, newline) {
			lines = append(lines, '\n')
		}
	}
	more = true
	s.prog.each(ctx, text, func(h hit) bool {
		if nul >= 0 && nul <= h.to {
			rec.markBinary()
			more = false
			return false
		}
		rec.mark(lines, h)
		more = s.q.Mode != FilesWithMatches && (rec.matches%1024 != 0 || ctx.Err() == nil)
		return more
	})
	if nul < 0 {
		rec.endWindow(lines)
	} else if !s.src.binary {
		rec.showAfter(lines, bytes.LastIndexByte(lines[:nul], '\n')+1)
	}
	s.src.binary = nul >= 0
	return more && ctx.Err() == nil && !(s.src.binary && s.src.read >= maxBinary)
}
