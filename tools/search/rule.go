package search

// A Glob is one compiled pattern on whole paths, as permission rules use it:
// names with a leading dot are like others. Safe for concurrent use.
type Glob struct{ g *globs }

// CompileGlob compiles a pattern of list_files. The error is a [*GlobError].
func CompileGlob(pattern string) (*Glob, error) {
	g, err := compileGlobs([]string{pattern}, wholePath)
	if err != nil {
		return nil, err
	}
	return &Glob{g}, nil
}

// Match tells whether the whole of a slash path matches.
func (g *Glob) Match(path string) bool { return g.g.matchPath(path, anyName) }
