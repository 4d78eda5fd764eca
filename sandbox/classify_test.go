package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		line string
		want Verdict
	}{
		// What a model does all day only reads.
		{"ls -la src && cat src/main.go | head -n 20", ReadOnly},
		{"git --no-pager log --oneline -5 -- main.go", ReadOnly},
		{"git diff --stat HEAD~1", ReadOnly},
		{"git show HEAD:sub/a.go", ReadOnly},
		{"git branch -a --sort=-committerdate", ReadOnly},
		{"rg -n --glob '*.go' 'func main' . | wc -l", ReadOnly},
		{"find . -name '*.go' -not -path './vendor/*' -type f | sort | head", ReadOnly},
		{"sed -n '10,20p' main.go", ReadOnly},
		{"awk '{print $1, $3}' a.txt", ReadOnly},
		{"printf '%s\\n' a b", ReadOnly},
		{"if grep -q x a.txt; then echo yes; else echo no; fi", ReadOnly},
		{"for f in a.txt b.txt; do wc -l \"$f\"; done 2>/dev/null", ReadOnly},
		{"[ -f a.txt ] && echo there", ReadOnly},
		{"cd sub && ls", ReadOnly},
		{"node --version; python3 --version", ReadOnly},
		{"jq -r '.items[] | .name' data.json", ReadOnly},
		{"(cat a; cat b) | sort -u > /dev/null", ReadOnly},

		// What may be more than it looks like.
		{"cd && cat .ssh/id_rsa", Ask},
		{"cd - && ls", Ask},
		{"for f in env; do jq -n \"$f\"; done", Ask},
		{"for c in m; do \"r$c\" a.txt; done", Ask},
		{"for f in -delete; do find . \"$f\"; done", Ask},
		{"for f in a; do cat $f; done", Ask},
		{"for PATH in x; do ls; done", Ask},
		{"for f in ../x; do cat \"$f\"; done", Ask},
		{"printf '%n' 'a[$(touch FLAG)]'", Ask},
		{"printf -v x y", Ask},
		{"uniq ./*", Ask},
		{"xxd ./*.bin", Ask},
		{"jq ./* a.json", Ask},
		{"jq -n '\"x\" | modulemeta'", Ask},
		{"jq -n env", Ask},
		{"git config --list", Ask},
		{"git config --local --get remote.origin.url", ReadOnly},
		{"git branch new", Ask},
		{"git tag v1", Ask},
		{"git log --format=%GG", Ask},
		{"git status --porcelain; git add .", Ask},
		{"cargo --version", Ask},
		{"yarn --version", Ask},
		{"tail -F a", Ask},
		{"find . -newer a -delete", Ask},
		{"find . -name -delete", ReadOnly},
		{"sed -i s/a/b/ a.txt", Ask},
		{"sed -n '1e touch FLAG'", Ask},
		{"sed '1w FLAG' a", Ask},
		{"awk 'BEGIN{print > \"FLAG\"}'", Ask},
		{"awk '{print $1}' a=b", Ask},
		{"ls > out", Ask},
		{"ls >| /dev/null", Ask},
		{"cat < ../x", Ask},
		{"cat <<X\n$(touch FLAG)\nX", Ask},
		{"cat <<X\nplain\nX", ReadOnly},
		{"cat <<< \"$(touch FLAG)\"", Ask},
		{"LC_ALL=$(touch FLAG) ls", Ask},
		{"LANG=../x ls", Ask},
		{"X=1", Ask},
		{"ls(){ touch FLAG; }; ls", Ask},
		{"coproc ls", Ask},
		{"while true; do ls; done", Ask},
		{"select x in a; do ls; done", Ask},
		{"command -v go", ReadOnly},
		{"command -p rm a", Ask},
		{"type rm", ReadOnly},
		{"./ls", Ask},
		{"/bin/ls", Ask},
		{"ls --block-size=/etc", Ask},
		{"diff -u a.txt /etc/passwd", Ask},
		{"grep -rf/etc/passwd .", Ask},
		{"cat ~/x", Ask},
		{"cat \\~", Ask}, // it would be a file inside; not worth the telling apart
		{"", ReadOnly},
		{"\x00", Deny},
	} {
		got, why := Classify(c.line)
		assert.Equal(t, c.want, got, "%s (%s)", c.line, why)
		assert.Equal(t, c.want == ReadOnly, why == "", c.line)
	}
}

func TestClassifyEnds(t *testing.T) {
	deep := strings.Repeat("for a in b c; do ", 1)
	for i := range 12 {
		deep += fmt.Sprintf("for v%d in a b c d e f g h; do ", i)
	}
	for _, line := range []string{
		strings.Repeat("(", 900) + strings.Repeat(")", 900),
		deep + "ls; " + strings.Repeat("done; ", 13),
		strings.Repeat("ls;", 20000),
	} {
		began := time.Now()
		v, _ := Classify(line)
		assert.NotEmpty(t, v)
		assert.Less(t, time.Since(began), time.Minute, "it must end at all")
	}
}

// pieces are words that a line is made of at random: harmless ones, and those through
// which something could be written.
var pieces = []string{
	"ls", "cat", "echo", "sort", "uniq", "head", "git", "status", "log", "find", ".", "-name", "grep", "-n", "-e", "sed", "-n", "awk", "jq", "test", "[", "]", "printf", "cd", "sub", "a.txt", "./*.txt", "./*", "*", "b", "--", "-", "'1p'", "'{print $1}'", "x=1", "LC_ALL=C",
	"|", "&&", "||", ";", "\n", "&", "(", ")", "{", "}", "if", "then", "fi", "else", "for f in a.txt b; do", "done", "\"$f\"", "$f", "${f}", "!", "<", ">", ">>", "2>&1", ">&2", "/dev/null", "> /dev/null", "< a.txt", "<<X\nhi\nX\n", "<<<", "'q'", "\"d\"", "\\", "\\ ", "#", "~", "..", "../x",
	"$(touch FLAG)", "`touch FLAG`", "\"$(touch FLAG)\"", "'$(touch FLAG)'", "<(touch FLAG)", ">(touch FLAG)", "${x:=$(touch FLAG)}", "$((a[$(touch FLAG)]))", "{touch,FLAG}", "touch FLAG", "touch", "FLAG", "> FLAG", ">|FLAG", "<>FLAG", "-exec touch FLAG {} +", "-fprint FLAG", "-delete", "-o FLAG", "-oFLAG", "--output=FLAG", "tee FLAG", "'w FLAG'", "'1e touch FLAG'", "-i", "-v 'a[$(touch FLAG)]'", "'%n' 'a[$(touch FLAG)]'", "eval", "exec", "source", "command", "builtin", "env", "xargs", "time", "nice", "sh -c", "'touch FLAG'", "'{system(\"touch FLAG\")}'", "'BEGIN{print > \"FLAG\"}'", "-f", "-c", "$'touch'", "function g {", "g()", "alias", "let", "declare", "read", "[[", "]]", "case a in a)", "esac", ";;", "while", "do", "coproc", "&>FLAG", "&>> FLAG", "3>FLAG", "|&", "=", ",", "[a-z]*", "@(a|b)", "\u00a0", "\t", "\r",
}

// TestWhatOnlyReadsWritesNothing runs random lines that are called read-only in a real
// shell and looks at what has become of the folder.
func TestWhatOnlyReadsWritesNothing(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	for name, text := range map[string]string{"a.txt": "two\none\n", "b": "x\n", "sub/c.txt": "deep\n", "z.txt": "-o FLAG\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	before := contents(t, dir)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	lines, ran := 20000, 0
	if testing.Short() {
		lines = 6000
	}
	for range lines {
		var b strings.Builder
		for range 1 + r.IntN(7) {
			b.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(8) > 0 {
				b.WriteByte(' ')
			}
		}
		line := b.String()
		if v, _ := Classify(line); v != ReadOnly || ran >= 3000 {
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		cmd := exec.CommandContext(ctx, bash, "-c", line)
		cmd.Dir = dir
		_ = cmd.Run()
		cancel()
		if _, err := os.Lstat(filepath.Join(dir, "FLAG")); err == nil {
			t.Fatalf("%q is called read-only and has written", line)
		}
	}
	assert.Equal(t, before, contents(t, dir))
	assert.Greater(t, ran, 100, "too few lines were called read-only to say anything")
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text := ""
		if !d.IsDir() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(b)
		}
		all = append(all, fmt.Sprintf("%s %q", path, text))
		return nil
	}))
	sort.Strings(all)
	return strings.Join(all, "\n")
}

func FuzzClassify(f *testing.F) {
	f.Add("for f in a b; do cat \"$f\"; done | sort > /dev/null")
	f.Add("git log --format='%h' -5; find . -name '*.go' -exec rm {} +")
	f.Add("cat <<'X'\n$(a)\nX\n")
	f.Fuzz(func(t *testing.T, line string) {
		v, why := Classify(line)
		if _, denied := Denied(line); denied != (v == Deny) || (v == ReadOnly) != (why == "") {
			t.Fatalf("%q: %s because %q, denied %v", line, v, why, denied)
		}
	})
}
