package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "mcp-tools"

// layers are our packages from the lowest up; a package imports only from layers
// below its own. The longest matching beginning counts.
var layers = map[string]int{"sandbox": 0, "tools/charset": 0, "tools/fetch/page": 0, "tools/": 1, "tools": 2, "server/bridge": 3, "server": 4, "cmd/mcp-tools": 5}

// owners are the packages that may import a library directly.
var owners = map[string][]string{
	"github.com/mark3labs/mcp-go":            {"server", "server/bridge", "cmd/mcp-tools"},
	"github.com/tailscale/hujson":            {"server/bridge", "cmd/mcp-tools"},
	"github.com/bmatcuk/doublestar":          {"tools/search"},
	"codeberg.org/readeck/go-readability":    {"tools/fetch/page"},
	"github.com/klauspost/compress":          {"tools/fetch"},
	"github.com/andybalholm/brotli":          {"tools/fetch"},
	"net/http":                               {"tools", "tools/fetch", "server", "server/bridge", "cmd/mcp-tools"},
	"github.com/anthropics/anthropic-sdk-go": {"tools/loop"},
	"github.com/sashabaranov/go-openai":      {"tools/loop"},
	"github.com/spf13/cobra":                 {"cmd/mcp-tools"},
	"github.com/VictoriaMetrics/metrics":     {"server"},
	"os/exec":                                {"sandbox", "cmd/mcp-tools"},
	"io/ioutil":                              {},
	"golang.org/x/sys":                       {"sandbox", "server", "cmd/mcp-tools"},
}

// harmless are the names of these packages that anybody may use; the others are
// file calls, or start processes, and belong in sandbox.
var harmless = map[string][]string{
	"os": {"ErrNotExist", "ErrExist", "ErrPermission", "ErrInvalid", "ErrDeadlineExceeded", "File", "FileInfo", "FileMode", "PathError",
		"PathSeparator", "DevNull", "Getenv", "LookupEnv", "Environ", "IsNotExist", "IsExist", "IsPermission", "IsPathSeparator",
		"ModeDir", "ModePerm", "ModeSymlink", "ModeType", "Stderr", "Stdin", "Stdout", "Getpid"},
	"syscall": {"Errno", "EACCES", "EDQUOT", "EEXIST", "EINVAL", "EISDIR", "ELOOP", "ENAMETOOLONG", "ENOENT", "ENOSPC", "ENOTDIR", "EPERM", "EROFS", "EXDEV"},
	"path/filepath": {"Abs", "Base", "Clean", "Dir", "Ext", "FromSlash", "IsAbs", "IsLocal", "Join", "Localize", "Match", "Rel", "Separator",
		"Split", "SplitList", "ToSlash", "VolumeName", "SkipDir", "SkipAll", "ListSeparator", "ErrBadPattern"},
}

// alsoHarmless are names that one package may use besides.
var alsoHarmless = map[string][]string{
	"tools/fetch": {"syscall.ECONNRESET", "syscall.EPIPE", "syscall.RawConn"},
	"server":      {"syscall.Conn", "syscall.Recvfrom", "syscall.MSG_PEEK", "syscall.MSG_DONTWAIT", "syscall.EAGAIN", "syscall.EINTR"},
}

type goPackage struct {
	ImportPath, Dir string
	Deps            []string
	files           []*ast.File // without tests, for every platform
}

func (p *goPackage) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// TestImportRules holds the code against "Who may import whom" of the
// architecture: layers, libraries with one owner, and file calls in one place.
func TestImportRules(t *testing.T) {
	packages := ourPackages(t)
	require.NotEmpty(t, packages)
	for _, p := range packages {
		for _, wrong := range p.violations() {
			t.Error(wrong)
		}
	}
}

func ourPackages(t *testing.T) []*goPackage {
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Dir,Deps", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	require.NoError(t, err)
	var ours []*goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := &goPackage{}
		err := dec.Decode(p)
		if errors.Is(err, io.EOF) {
			return ours
		}
		require.NoError(t, err)
		if !strings.HasPrefix(p.ImportPath, module+"/") {
			continue
		}
		names, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			p.files = append(p.files, f)
		}
		ours = append(ours, p)
	}
}

// violations are the rules that p breaks.
func (p *goPackage) violations() (wrong []string) {
	imports := map[string]bool{}
	for _, f := range p.files {
		for _, path := range importNames(f) {
			imports[path] = true
		}
		wrong = append(wrong, p.calls(f)...)
	}
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		if why := p.mayImport(path); why != "" {
			wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", p.name(), path, why))
		}
	}
	// In no roundabout way either: what does not know MCP can be used without it.
	for _, dep := range p.Deps {
		if layerOf(p.name()) < layers["server/bridge"] && strings.HasPrefix(dep, "github.com/mark3labs/mcp-go") {
			wrong = append(wrong, fmt.Sprintf("%s depends on %s", p.name(), dep))
		}
	}
	return wrong
}

func (p *goPackage) mayImport(path string) string {
	if own, ok := strings.CutPrefix(path, module+"/"); ok {
		if layerOf(own) >= layerOf(p.name()) {
			return "that is not below it"
		}
		return ""
	}
	for lib, allowed := range owners {
		if (path == lib || strings.HasPrefix(path, lib+"/")) && !slices.Contains(allowed, p.name()) {
			return fmt.Sprintf("only %q may", allowed)
		}
	}
	return ""
}

// calls finds uses of the file system outside the packages that may.
func (p *goPackage) calls(f *ast.File) (wrong []string) {
	names := importNames(f)
	mayTouch := slices.Contains(owners["os/exec"], p.name())
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		path := names[id.Name]
		if list, ok := harmless[path]; ok && !mayTouch && !slices.Contains(list, sel.Sel.Name) && !slices.Contains(alsoHarmless[p.name()], path+"."+sel.Sel.Name) {
			wrong = append(wrong, fmt.Sprintf("%s uses %s.%s: files are sandbox's", p.name(), path, sel.Sel.Name))
		}
		if path == "context" && sel.Sel.Name == "WithValue" && p.name() != "tools" { // there the call itself travels with its context
			wrong = append(wrong, p.name()+" uses context.WithValue: dependencies are fields or arguments")
		}
		return true
	})
	return wrong
}

// importNames maps the names by which a file knows its imports to their paths.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "_" || name == "." {
			name += path // no name to be used by, but imported all the same
		}
		names[name] = path
	}
	return names
}

func layerOf(name string) int {
	if n, ok := layers[name]; ok {
		return n
	}
	if strings.Contains(name, "/internal/") {
		return 0
	}
	if strings.HasPrefix(name, "tools/") {
		return layers["tools/"]
	}
	return -1
}

// TestImportRulesBite makes sure that the rules above find what they are for.
func TestImportRulesBite(t *testing.T) {
	for _, c := range []struct {
		name, pkg, src string
		deps           []string
		wrong          int
	}{
		{"fine", "tools", `import ("os"; "mcp-tools/sandbox"; "mcp-tools/tools/edit"); var _ = os.Getenv`, nil, 0},
		{"upwards", "tools", `import _ "mcp-tools/server"`, nil, 1},
		{"sideways", "tools/search", `import _ "mcp-tools/tools/edit"`, nil, 1},
		{"sandbox imports tools", "sandbox", `import _ "mcp-tools/tools"`, nil, 1},
		{"mcp-go in tools", "tools", `import _ "github.com/mark3labs/mcp-go/mcp"`, nil, 1},
		{"mcp-go in server", "server", `import _ "github.com/mark3labs/mcp-go/mcp"`, []string{"github.com/mark3labs/mcp-go/mcp"}, 0},
		{"mcp-go below tools", "tools", "", []string{"github.com/mark3labs/mcp-go/mcp"}, 1},
		{"doublestar in tools", "tools", `import _ "github.com/bmatcuk/doublestar/v4"`, nil, 1},
		{"exec in server", "server", `import _ "os/exec"`, nil, 1},
		{"exec in sandbox", "sandbox", `import _ "os/exec"`, nil, 0},
		{"file call", "tools/edit", `import "os"; var _ = os.ReadFile`, nil, 1},
		{"file call, renamed", "server", `import x "os"; var _ = x.Open`, nil, 1},
		{"walk", "tools/search", `import "path/filepath"; var _ = filepath.WalkDir`, nil, 1},
		{"system call", "tools", `import "syscall"; var _ = syscall.Kill`, nil, 1},
		{"system error", "tools", `import "syscall"; var _ = syscall.ENOSPC`, nil, 0},
		{"context", "server", `import "context"; var _ = context.WithValue`, nil, 1},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+c.src, 0)
		require.NoError(t, err, c.name)
		p := &goPackage{ImportPath: module + "/" + c.pkg, Deps: c.deps, files: []*ast.File{f}}
		assert.Len(t, p.violations(), c.wrong, c.name)
	}
}
