package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const casesDir = "../../testdata/cases"

// TestCases runs the cases of testdata/cases against the real binary, over stdio
// or HTTP, each as a subtest with its id as name: -run TestCases/F012.
func TestCases(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands that set the cases up are for bash and a Unix file system")
	}
	cases := loadCases(t)
	bin := buildBinary(t)
	// The long ones first, so that none is waited for alone at the end.
	slices.SortStableFunc(cases, func(a, b *testCase) int { return int(b.Cost - a.Cost) })
	for _, tc := range cases {
		t.Run(tc.ID, func(t *testing.T) {
			t.Parallel()
			if why := tc.missing(); why != "" {
				t.Skip(why)
			}
			for _, bad := range runCase(tc, bin) {
				t.Errorf("%.2000s", bad)
			}
			if t.Failed() {
				t.Logf("%s %s: %s\nexpected: %s", tc.Class, tc.Level, tc.Gist, tc.Expect)
			}
		})
	}
}

// loadCases reads all cases and refuses any that is not in the known form.
func loadCases(t *testing.T) []*testCase {
	files, err := filepath.Glob(casesDir + "/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var cases []*testCase
	seen := map[string]bool{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<24)
		for n := 1; lines.Scan(); n++ {
			tc := &testCase{}
			at := fmt.Sprintf("%s:%d", filepath.Base(f), n)
			require.NoError(t, decodeStrict(lines.Bytes(), tc), at)
			require.NoError(t, tc.validate(), at)
			for _, r := range tc.Requires {
				require.Contains(t, needs, r, at)
			}
			require.False(t, seen[tc.ID], "%s: %s is there twice", at, tc.ID)
			seen[tc.ID] = true
			cases = append(cases, tc)
		}
		require.NoError(t, lines.Err(), f)
	}
	return cases
}

// buildBinary builds the command where an ordinary user can run it.
func buildBinary(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	bin := filepath.Join(dir, "mcp-tools")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// needs tells for each word of "requires" whether it is there.
var needs = map[string]func() bool{
	"root":         func() bool { return os.Getuid() == 0 },
	"linux":        func() bool { return runtime.GOOS == "linux" },
	"git":          func() bool { return hasProgram("git") },
	"python3":      func() bool { return hasProgram("python3") },
	"nonroot":      func() bool { return true }, // the runner changes the user if it must
	"two_sessions": func() bool { return true },
	"roots":        func() bool { return true },
}

func hasProgram(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// missing is what the case needs and this machine has not; "" if nothing.
func (tc *testCase) missing() string {
	for _, r := range tc.Requires {
		if !needs[r]() {
			return "needs " + r
		}
	}
	var k checkForm
	if decodeForm(expand(tc.Check, nil), &k) == nil && k.needsProc() && !canSeeProcesses {
		return "looks into processes, which needs /proc"
	}
	return ""
}
