package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func readText(path string) string {
	b, _ := os.ReadFile(path)
	return strings.ToValidUTF8(string(b), "�")
}

func (c *caseRun) checkFile(k *fileCheck, bad *faults) {
	p := c.path(k.Path)
	if k.Exists != nil {
		_, err := os.Lstat(p)
		bad.addIf((err == nil) != *k.Exists, "%s exists: %v", k.Path, err == nil)
		return
	}
	if k.Link != nil {
		target, err := os.Readlink(p)
		bad.addIf(err != nil || target != *k.Link, "%s is not a link to %s", k.Path, *k.Link)
		return
	}
	b, err := os.ReadFile(p)
	if err != nil {
		bad.add("%s: %v", k.Path, err)
		return
	}
	c.checkBytes(k, b, bad)
	info, err := os.Stat(p)
	if err != nil {
		bad.add("%s: %v", k.Path, err)
		return
	}
	bad.addIf(k.Mode != "" && unixMode(info.Mode()) != k.Mode, "%s mode %s", k.Path, unixMode(info.Mode()))
	if k.HardlinkWith != "" {
		other, err := os.Stat(c.path(k.HardlinkWith))
		bad.addIf(err != nil || !os.SameFile(info, other), "%s: another inode", k.Path)
	}
	if k.UID != nil && k.GID != nil {
		uid, gid := ownerOf(info)
		bad.addIf(uid != *k.UID || gid != *k.GID, "%s owner %d:%d", k.Path, uid, gid)
	}
}

func (c *caseRun) checkBytes(k *fileCheck, b []byte, bad *faults) {
	if k.B64 != nil {
		want, err := base64.StdEncoding.DecodeString(*k.B64)
		bad.addIf(err != nil || !bytes.Equal(b, want), "%s is %.160q want %.160q", k.Path, b, want)
	}
	bad.addIf(k.Text != nil && string(b) != deref(k.Text), "%s is %.160q want %.160q", k.Path, b, deref(k.Text))
	bad.addIf(k.Size != nil && len(b) != deref(k.Size), "%s size %d", k.Path, len(b))
	bad.addIf(len(b) < k.SizeMin, "%s size %d", k.Path, len(b))
	lines := bytes.Count(b, []byte("\n"))
	bad.addIf(k.Lines != nil && lines != deref(k.Lines), "%s lines %d", k.Path, lines)
	bad.addIf(!bytes.HasSuffix(b, []byte(k.TextEnds)), "%s ends %q", k.Path, b[max(0, len(b)-60):])
	for _, y := range k.Has {
		bad.addIf(!bytes.Contains(b, []byte(y)), "%s lacks %q", k.Path, y)
	}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// unixMode is the mode as ls and chmod number it, with set-id and sticky bits.
func unixMode(m fs.FileMode) string {
	n := uint32(m.Perm())
	for bit, flag := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if m&flag != 0 {
			n |= bit
		}
	}
	return fmt.Sprintf("%04o", n)
}

func (c *caseRun) checkFolders(k *checkForm, bad *faults) {
	for _, x := range k.DirEntries {
		var names []string
		entries, _ := os.ReadDir(c.path(x.Path))
		for _, e := range entries {
			names = append(names, e.Name())
		}
		slices.Sort(x.Equals)
		bad.addIf(!slices.Equal(names, x.Equals), "%s has %q", filepath.Base(c.path(x.Path)), names)
	}
	for _, x := range k.NotFileContains {
		text := readText(c.path(x.Path))
		for _, y := range x.Texts {
			bad.addIf(strings.Contains(text, y), "%s has %q", x.Path, y)
		}
	}
	for _, dir := range k.TreeUnchanged {
		compareTrees(dir, c.trees[dir], tree(dir), bad)
	}
	if k.SavedMode != nil {
		p := c.path(c.copyVars()[k.SavedMode.Var])
		info, err := os.Stat(p)
		bad.addIf(err != nil, "saved file: %v", err)
		bad.addIf(err == nil && unixMode(info.Mode()) != k.SavedMode.Mode, "the saved file has another mode than %s", k.SavedMode.Mode)
	}
}

func compareTrees(dir string, old, now map[string]string, bad *faults) {
	for name, was := range old {
		bad.addIf(now[name] != was, "changed in %s: %s: %s → %s", dir, name, was, now[name])
	}
	for name, is := range now {
		_, known := old[name]
		bad.addIf(!known, "new in %s: %s: %s", dir, name, is)
	}
}

// tree describes everything below dir: kind, mode, size, time, content, link
// target, extended attributes. Times of folders are left out.
func tree(dir string) map[string]string {
	out := map[string]string{}
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return nil
		}
		info, err := os.Lstat(p)
		if err != nil {
			return nil
		}
		s := info.Mode().String()
		if !info.IsDir() {
			s += fmt.Sprintf(" %d", info.ModTime().UnixNano())
		}
		switch {
		case info.Mode().IsRegular():
			b, _ := os.ReadFile(p)
			s += fmt.Sprintf(" %d %x %s", len(b), sha256.Sum256(b), attributeNames(p))
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			s += " → " + target
		}
		name, _ := filepath.Rel(dir, p)
		out[name] = s
		return nil
	})
	return out
}
