package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"mcp-tools/tools"
)

const (
	// maxAudit is how long an audit file gets before the next is begun, in bytes, and
	// keptAudits how many of those before it are kept.
	maxAudit   = 10 << 20
	keptAudits = 5
)

// auditFile writes lines of JSON to a file that only its owner can read. It is opened
// when there is something to write. Safe for concurrent use.
type auditFile struct {
	path string
	log  *slog.Logger

	mu     sync.Mutex
	file   *os.File
	size   int64
	failed bool // and it was said
}

func newAudit(path string, log *slog.Logger) (*auditFile, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(filepath.Dir(abs)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no folder %s", filepath.Dir(path))
	}
	if info, err := os.Lstat(abs); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	return &auditFile{path: abs, log: log}, nil
}

// write adds a line. One that cannot be written is told in the log, once in a row.
func (a *auditFile) write(l tools.AuditLine) {
	line, err := json.Marshal(l)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err = a.add(append(line, '\n')); err != nil && !a.failed {
		a.log.Error("the audit cannot be written", "file", a.path, "err", err)
	}
	a.failed = err != nil
}

func (a *auditFile) add(line []byte) error {
	if a.file != nil && a.size+int64(len(line)) > maxAudit {
		a.rotate()
	}
	if a.file == nil {
		f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			f.Close()
			return errors.Join(err, errors.New("it is no file"))
		}
		a.file, a.size = f, info.Size()
		if a.size+int64(len(line)) > maxAudit {
			a.rotate()
			return a.add(line)
		}
	}
	n, err := a.file.Write(line) // one write: lines of two processes do not mix
	a.size += int64(n)
	return err
}

// rotate makes room: file.1 is the one before, file.2 the one before that.
func (a *auditFile) rotate() {
	_ = a.file.Close()
	a.file, a.size = nil, 0
	for i := keptAudits; i > 0; i-- {
		from := a.path
		if i > 1 {
			from = fmt.Sprintf("%s.%d", a.path, i-1)
		}
		if err := os.Rename(from, fmt.Sprintf("%s.%d", a.path, i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.log.Error("the audit cannot be rotated", "file", from, "err", err)
		}
	}
}

func (a *auditFile) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file != nil {
		_ = a.file.Close()
		a.file = nil
	}
}
