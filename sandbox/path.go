package sandbox

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPath is how long a path may be, in bytes (PATH_MAX of Linux).
const maxPath = 4096

// A BadPathError says why a path is refused before anything is looked up.
type BadPathError struct{ Reason string }

func (e *BadPathError) Error() string { return e.Reason }

func badPath(format string, args ...any) error {
	return &BadPathError{fmt.Sprintf(format, args...)}
}

// checkPath refuses what no path of a workspace looks like.
func checkPath(p string) error {
	switch {
	case len(p) > maxPath:
		return badPath("the path has %d bytes; at most %d are allowed", len(p), maxPath)
	case strings.ContainsRune(p, 0):
		return badPath("the path contains a NUL character")
	case strings.HasPrefix(p, "//") || strings.HasPrefix(p, `\\`):
		return badPath("network (UNC) paths are not allowed")
	}
	for _, r := range p {
		if r != utf8.RuneError && unicode.IsControl(r) {
			return badPath("the path contains the control character %U", r)
		}
	}
	if p == "~" || strings.HasPrefix(p, "~/") {
		return badPath("~ is not expanded; use a path relative to the workspace or an absolute one")
	}
	if strings.HasPrefix(p, "$HOME") || strings.HasPrefix(p, "${HOME}") {
		return badPath("variables are not expanded; use a path relative to the workspace or an absolute one")
	}
	if runtime.GOOS == "windows" {
		return checkWindowsPath(p)
	}
	return nil
}

// windowsReserved are device names, whatever extension follows.
var windowsReserved = map[string]bool{"con": true, "prn": true, "aux": true, "nul": true, "conin$": true, "conout$": true}

func checkWindowsPath(p string) error {
	rest := p[len(filepath.VolumeName(p)):]
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == "." || part == ".." {
			continue
		}
		if strings.ContainsRune(part, ':') {
			return badPath("%q: alternate data streams are not allowed", part)
		}
		if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return badPath("%q: a name may not end in a dot or a blank", part)
		}
		base, _, _ := strings.Cut(strings.ToLower(part), ".")
		base = strings.TrimRight(base, " ")
		if windowsReserved[base] || len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) {
			return badPath("%q is a reserved device name", part)
		}
	}
	return nil
}

// fromURI returns the path of a file:// URI, and p itself when it is none.
// Percent escapes are decoded once (RFC 8089, RFC 3986).
func fromURI(p string) (string, error) {
	if len(p) < 5 || !strings.EqualFold(p[:5], "file:") {
		return p, nil
	}
	u, err := url.Parse(p)
	if err != nil {
		return "", badPath("not a valid file:// URI")
	}
	if u.Host != "" && u.Host != "localhost" {
		return "", badPath("the file:// URI names another host (%s)", u.Host)
	}
	if u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", badPath("the file:// URI must be an absolute path; escape # and ? as %%23 and %%3F")
	}
	path := u.Path
	if runtime.GOOS == "windows" && len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:]
	}
	if !filepath.IsAbs(filepath.FromSlash(path)) {
		return "", badPath("the file:// URI must be an absolute path")
	}
	return path, nil
}

// toURI is the file:// URI of an absolute host path.
func toURI(abs string) string {
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// HomeDir is the home directory of the user.
func HomeDir() (string, error) { return os.UserHomeDir() }

// foldsCase: the usual file systems take names that differ in case for one.
const foldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// below returns the part of abs below dir, both clean and absolute, compared by
// components; "." when they are equal.
func below(dir, abs string) (string, bool) {
	if len(abs) < len(dir) || !sameName(abs[:len(dir)], dir) {
		return "", false
	}
	rest := abs[len(dir):]
	switch {
	case rest == "":
		return ".", true
	case os.IsPathSeparator(rest[0]):
		rest = rest[1:]
	case !os.IsPathSeparator(dir[len(dir)-1]): // "/" ends in its separator
		return "", false
	}
	if rest == "" {
		return ".", true
	}
	return filepath.ToSlash(rest), true
}

func sameName(a, b string) bool { return a == b || foldsCase && strings.EqualFold(a, b) }

// isBadPath tells whether err is about the form of a path.
func isBadPath(err error) bool {
	var bad *BadPathError
	return errors.As(err, &bad)
}
