package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a rule that denies rm must catch.
func TestCommandsThatMayRunRm(t *testing.T) {
	for reason, lines := range map[string][]string{
		"quotes":            {`'rm' x`, `"rm" x`, `\rm x`, `r""m x`, `r\m x`, `$'\x72m' x`, `$'rm\0y' x`, "r\\\nm x", `{rm,x}`, `{,rm} x`, `$"rm" x`},
		"paths":             {`/bin/rm x`, `/usr/bin/../bin/rm x`, `./rm x`, `~/bin/rm x`, `"$DIR/rm" x`, `RM x`, `rm.exe x`, `c:/x/RM.EXE y`},
		"wrappers":          {`command rm x`, `command -p rm x`, `env rm x`, `env -i A=b rm x`, `env -u A rm x`, `env -S 'rm x'`, `env -iS'rm x'`, `env -S 'rm\_x'`, `env --split-s='rm x'`, `env rm -S x`, `timeout 5 rm x`, `timeout -k 1 5 rm x`, `nice -n 5 rm x`, `nice -5 rm x`, `nohup rm x &`, `exec rm x`, `exec -a y rm x`, `builtin command rm x`, `setpriv --reuid 5 --regid 5 rm x`, `stdbuf -oL rm x`, `time rm x`, `/usr/bin/time -f x rm y`, `! rm x`, `coproc rm x`, `chroot . rm x`, `flock f rm x`, `flock f -c 'rm x'`, `script -qc 'rm x' f`, `script --command='rm x' f`, `busybox rm x`, `bwrap --bind / / rm x`, `/lib64/ld-linux-x86-64.so.2 /bin/rm x`, `watch -n 1 rm x`, `env nice timeout 5 rm x`, `sg g -c 'rm x'`, `torsocks --nosuch v rm x`, `eatmydata rm x`},
		"of lists":          {`find . -exec rm {} \;`, `find . -exec rm {} +`, `find . -execdir env rm {} \;`, `find . -exec env -u + rm {} \;`, `find . -exec echo {} + -exec rm {} +`, `xargs rm`, `ls | xargs -0 -n1 rm -f`, `xargs -I {} rm {}`, `xargs -I% sh -c 'rm %'`, `fd -x rm`, `fd -xrm`, `fd --exec=rm x`, `parallel rm ::: a`, `parallel 'rm {}' ::: a`, `find . -exec rm {} + -print`},
		"shells":            {`sh -c 'rm x'`, `bash -lc 'rm x'`, `bash -o pipefail -c 'rm x'`, `bash -c "bash -c 'rm x'"`, `eval rm x`, `eval 'r''m x'`, "bash <<EOF\nrm x\nEOF", `bash <<< 'rm x'`, `echo rm x | sh`, `printf 'r%s x' m | sh`, `. /dev/stdin <<< 'rm x'`, `trap 'rm x' EXIT`, `zsh -c 'rm x'`, `entr -s 'rm x'`, `mapfile -C 'rm x' -c 1 < f`},
		"places":            {`x=1 rm y`, `$(rm x)`, `echo "$(rm x)"`, "echo `rm x`", `cat <(rm x)`, `ls > >(rm x)`, `ls; rm x`, `ls && rm x`, `ls | rm x`, `(rm x)`, `{ rm x; }`, `if ls; then rm x; fi`, `while rm x; do :; done`, `for i in $(rm x); do :; done`, `case $(rm x) in *) ;; esac`, `case x in *) rm x;; esac`, `f() { rm x; }; f`, `[[ $(rm x) ]]`, `echo $((a[$(rm x)]))`, `echo "${x:-$(rm y)}"`, `x=$(rm y)`, `export x=$(rm y)`, `a=([$(rm x)]=1)`, "cat <<E\n$(rm x)\nE", `rm x &`, `echo ${a[$(rm x)]}`, `(( $(rm x) ))`, `for ((i=$(rm x);;)); do :; done`},
		"dynamic":           {`$x y`, `r$x y`, `$(echo rm) x`, "`echo rm` x", `x=rm; $x y`, `"$@"`, `"${a[@]}"`, `r? x`, `/bin/r* x`, `r[m] x`, `~ x`, `env $x y`, `timeout $T x`, `xargs env`, `xargs sh`, `sh -c "$x"`, `sh -c "ls $x"`, `eval "$x"`, `eval ls *`, `echo "$x" | sh`, `curl x | sh`, `base64 -d f | bash`, `sh < f`, `sh -s a`, `find . -exec {} \;`, `find . -exec sh -c '{}' \;`, `bash -c '"$@"' _ rm x`, `bash -c '$0 x' rm`, `xargs -I% %`, `xargs -I {} sh -c {}`, `parallel ::: 'rm x'`, `source <(echo rm x)`, `$EMPTY rm x`},
		"other meanings":    {`alias ls=rm; ls x`, `hash -p /bin/rm ls; ls x`, `enable -f ./x.so ls`, `x='a[$(rm b)]'; echo $((x))`, `let 'a[$(rm b)]=1'`, `test -v 'a[$(rm b)]'`, `[[ 'a[$(rm b)]' -eq 1 ]]`, `printf -v 'a[$(rm b)]' x`, `read x <<< 'a[$(rm b)]'; echo $((x))`, `for x in 'a[$(rm b)]'; do (( x )); done`, `x='$(rm y)'; echo ${x@P}`, `PS4='$(rm x)'; set -x; ls`, `env PS4='$(rm x)' bash -xc ls`, `BASH_ENV='$(rm x)' bash -c ls`, `env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls`, `declare -i 'x=a[$(rm b)]'`, `x='$''(rm y)'; echo ${x@P}`, `PS4=\$\(rm\ x\); set -x`},
		"scripts":           {`sh rm x`, `. ./rm x`},
		"not valid":         {"true\nrm x\n)", "ls (", "rm x )", "echo 'a\nrm b", "if true; rm x"},
		"too much":          {strings.Repeat("a", maxAnalysed+1), strings.Repeat("{ ", 1_000_000), strings.Repeat("$(", 20_000), nest("rm x", 12)},
		"characters hidden": {"ls\x00", "ls\x02", "ls \u202e"},
	} {
		for _, line := range lines {
			c := AnalyseCommands(line)
			assert.True(t, c.MayRun("rm", true), "%s: %.100q: %.200q", reason, line, c.Parts)
			assert.False(t, c.RunsOnly("rm", true) && reason != "quotes", "%s: %.100q", reason, line)
		}
	}
}

func TestCommandsThatDoNotRunRm(t *testing.T) {
	for reason, lines := range map[string][]string{
		"words of others":  {`echo rm x`, `git rm x`, `grep -r 'rm x' .`, `git commit -m 'rm; rm x $(rm y)'`, `man rm`, `command -v rm`, `ls rm`, `printf 'rm %s' x`, `timeout 5 git rm x`, `nice -n 5 git rm`, `xargs -0 git rm`, `docker rm x`, `npm run rm`, `find . -name rm`, `env A=rm printenv A`, `setsid -f git rm x`},
		"other names":      {`rmdir x`, `./rm.sh`, `rm-all x`, `farm x`, `rm_ x`},
		"dynamic words":    {`echo $x`, `go test $PKGS`, `ls *.go`, `cat ~/x`, `for f in *; do echo "$f"; done`, `echo $((i + 1))`, `echo "${x:-none}" ${#x}`, `timeout "5" make "$@"`, `cd "$(git rev-parse --show-toplevel)" && make`, `env A="$x" make`, `xargs -n 1 grep x`, `find . -exec grep x {} +`, `sh -c 'ls "$1"' _ x`, `x=$(ls); echo "$x"`},
		"shells":           {`bash script.sh`, `sh -c 'git rm x'`, `echo ls | sh`, `bash --version`, "cat <<'E'\nrm x\n$(rm y)\nE"},
		"texts":            {`echo 'see $(rm x)'`, "git commit -m 'use `rm`'", `awk '{print $1}' f; echo $((1+2))`, `[[ -f x ]] && echo 'a $(b)'`, `echo '$'`},
		"nothing":          {``, ` `, `# rm x`, `:`, "ls # rm x", `x=1`},
		"plain work":       {`go build ./... && go test ./... 2>&1 | tail -20`, `cd sub; FOO=bar npm test -- --grep x`, `trap 'ls' EXIT; make`, `set -euo pipefail; make`, `python3 -c 'import os'`, `if [ -f x ]; then cat x; fi`},
		"wildcards inside": {`echo a*`, `[ -f x ]`, `test -f x`},
	} {
		for _, line := range lines {
			c := AnalyseCommands(line)
			assert.False(t, c.MayRun("rm", true), "%s: %q: unclear %v, %q", reason, line, c.Unclear, c.Parts)
		}
	}
}

func TestMayRun(t *testing.T) {
	for _, row := range []struct {
		line, words string
		open, want  bool
	}{
		{`git push origin`, `git push`, true, true},
		{`git push`, `git push`, true, true},
		{`git pushy`, `git push`, true, false},
		{`git push origin`, `git push`, false, false},
		{`git   'push'`, `git push`, false, true},
		{`git -C dir push`, `git push`, true, true},
		{`git --git-dir=x -c a=b push`, `git push`, true, true},
		{`git $x`, `git push`, true, true},
		{`git "$x" origin`, `git push`, true, true},
		{`git pu$x`, `git push`, true, true},
		{`git st$x`, `git push`, true, false},
		{`git $x origin`, `git push origin`, false, true},
		{`git push $x`, `git push`, false, true},    // $x may be nothing
		{`git push "$x"`, `git push`, false, false}, // a word, though it may be empty
		{`git push $x $y`, `git push`, false, true},
		{`git push $x $y z`, `git push a z`, false, true},
		{`git push $x $y z`, `git push a`, false, false},
		{`git push $x`, `git pushy`, true, false},
		{`git push *`, `git push origin`, false, true},
		{`git {status,push}`, `git status push`, false, true},
		{`git "$(x)" b`, `git a`, false, false},
		{`git commit -m "a b"`, `git commit -m "a b"`, false, true},
		{`git commit -m 'a b'`, `git commit -m a\ b`, false, true},
		{`/bin/ls -l`, `/bin/ls`, true, true},
		{`/bin/ls -l`, `ls`, true, true},
		{`env A=1 ls`, `env`, true, true},
		{`echo -rf x | xargs rm`, `rm -rf`, true, true},
		{`xargs rm -i`, `rm -rf`, true, false},
		{`f() { rm "$@"; }; f -rf x`, `rm -rf`, true, true},
		{`export PATH=.`, `export`, true, true},
		{`[[ -f x ]]`, `[[`, true, true},
		{``, `ls`, true, false},
		{`ls`, ``, true, false},
	} {
		assert.Equal(t, row.want, AnalyseCommands(row.line).MayRun(row.words, row.open), "%q by %q, open %v", row.line, row.words, row.open)
	}
}

func TestPlainCommands(t *testing.T) {
	for _, line := range []string{
		`git status`, ` git  status `, `git status;`, `git 'status'`, `git "status"`, `git \status`, "git status # all", "git \\\nstatus", `git status *.go`, `git status ~/x`, `git status 'a $(b)'`, `git status -- "a b"`, "git status\n",
	} {
		c := AnalyseCommands(line)
		assert.True(t, c.Plain, line)
		assert.True(t, c.RunsOnly("git status", true), line)
		assert.Equal(t, "git status", strings.Join(c.words[:2], " "))
	}
	for reason, lines := range map[string][]string{
		"redirects":     {`git status > ~/.bashrc`, `git status 2>&1`, `git status < f`, `git status <<< x`, "git status <<E\nE"},
		"assignments":   {`LD_PRELOAD=./x git status`, `PATH=. git status`, `x=1`, `export PATH=.; git status`, `export PATH=.`, `declare x=1`},
		"substitutions": {`git status $(x)`, "git status `x`", `git status "$(x)"`, `git status <(x)`, `git status $((1))`},
		"variables":     {`git status $x`, `git status "$x"`, `git status ${x:=y}`, `git $x`, `$x`},
		"others":        {`git status; ls`, `git status && ls`, `git status | cat`, "git status\nls", `git status &`, `(git status)`, `{ git status; }`, `! git status`, `time git status`, `coproc git status`, `if git status; then :; fi`},
		"functions":     {`git() { rm x; }; git status`, `function git { rm x; }`},
		"programs":      {`gi? status`, `~ status`, `g* status`, `{git,status}`},
		"not valid":     {`git status )`, `git 'status`, ``, `#`},
		"evaluation":    {`alias git=rm`, `sh -c "git status *"; ls`, `bash`, `let x`, `[[ x ]]`},
		"braces":        {`git status {1..3}`},
	} {
		for _, line := range lines {
			c := AnalyseCommands(line)
			assert.False(t, c.Plain && c.RunsOnly("git status", true) || c.Plain && reason != "others" && reason != "evaluation" && reason != "braces", "%s: %s", reason, line)
		}
	}
	for line, words := range map[string]string{
		`./git status`: "git status", `/tmp/git status`: "git status", `GIT status`: "git status", `git.exe status`: "git status", `env git status`: "git status", `'git status'`: "git status",
		`git 'status x'`: "git status", `git -c a=b status`: "git status", `gitstatus`: "git status", `git`: "git status", `sh -c 'git status'`: "git status", `{git,status}`: "git status", `git {status,x}`: "git status",
	} {
		assert.False(t, AnalyseCommands(line).RunsOnly(words, true), line)
	}
	assert.True(t, AnalyseCommands(`npm test`).RunsOnly("npm test", false))
	assert.False(t, AnalyseCommands(`npm test x`).RunsOnly("npm test", false))
	assert.True(t, AnalyseCommands(`git commit -m 'a b'`).RunsOnly(`git commit -m "a b"`, false))
	assert.False(t, AnalyseCommands(`ls`).RunsOnly("", true))
}

func TestLastCommand(t *testing.T) {
	for line, want := range map[string]string{
		"grep x f": "grep x f", "cat f | grep x": "grep x", "cd d && /usr/bin/grep 'x y' f": "/usr/bin/grep x y f", "ls; diff a b": "diff a b", "ls\ngrep x f": "grep x f", "grep x f; false": "false", "grep x f | head": "head",
		"make && grep x f": "", "cd a && export B=c && grep x f": "grep x f", "a || grep x f": "grep x f", "cd a && make && grep x f": "",
		"test -f x": "test -f x", "[ -f x ]": "[ -f x ]", "[[ -f x ]]": "[[", "ls && [[ a == b ]]": "",
		"timeout 5 grep x f": "grep x f", "env -i A=b grep x f": "grep x f", "time grep x f": "grep x f", "command -v x": "command -v x", "xargs grep x": "xargs grep x", "nice": "nice",
		"(ls; grep x f)": "grep x f", "{ grep x f; }": "grep x f", "for f in a; do grep x $f; done": "grep x $f", "! grep x f": "", "grep x f &": "", "f() { grep x f; }": "", "if grep x f; then :; fi": "",
		"grep $(diff a b) f": "grep $(diff a b) f", "grep x f > out": "grep x f", "export A=b": "export", "'": "", "": "", "x=1": "", "LC_ALL=C grep x f": "grep x f", "grep x f # y": "grep x f",
	} {
		assert.Equal(t, want, AnalyseCommands(line).Last, line)
	}
}

func TestParts(t *testing.T) {
	for line, want := range map[string][]string{
		`'rm' "a b" $x "$y" *.go`: {`rm a b $x $y *.go`}, // dynamic parts as they are written
		`/bin/rm x`:               {`/bin/rm x`, `rm x`},
		`env A=b timeout 5 rm x`:  {`env A=b timeout 5 rm x`, `timeout 5 rm x`, `rm x`},
		`sh -c 'ls; rm x'`:        {`sh -c ls; rm x`, `ls`, `rm x`},
		`ls; ls; ls a`:            {`ls`, `ls a`},
		`find . -exec rm {} \;`:   {`find . -exec rm {} ;`, `rm {}`},
		`xargs rm -f`:             {`xargs rm -f`, `rm -f`},
		`export A=b; [[ x ]]`:     {`export A=b`, `[[`},
		`echo "$(date)"`:          {`echo $(date)`, `date`},
		`bash -x ./go.sh a`:       {`bash -x ./go.sh a`, `./go.sh a`, `go.sh a`},
		`git -C d push`:           {`git -C d push`, `git push`},
	} {
		c := AnalyseCommands(line)
		assert.Equal(t, want, c.Parts, line)
		assert.Equal(t, len(c.Parts), len(c.match))
		assert.False(t, c.Unclear, line)
	}
}

func boundedUnits() map[string]string {
	return map[string]string{
		"blocks": "{ ", "braces": "{a,b}", "many braces": "{a,b,c,d,e,f}{a,b,c,d,e,f} ", "for": "for i in 1 2 3 4 5 6 7 8 9 0; do ", "eval": "eval ", "pipes": "echo a | bash | ", "and": "true && ", "substitution": "$(", "echo substitution": "$(echo ",
		"parens": "(", "backticks": "`", "quotes": "'", "here": "<<a ", "functions": "f() { ", "defaults": "${x:-", "arith": "$((", "case": "case a in a) ", "index": "a[", "old arith": "$[", "double": `"$(`,
		"not": "! ", "if": "if ", "while": "while ", "time": "time ", "coproc": "coproc ", "env": "env ", "env option": "env -x ", "xargs": "xargs ", "bwrap": "bwrap --x ", "find": "find -exec ", "variables": "$a ", "globs": "* ", "timeout": "timeout 5 ",
		"shells": "sh -c ", "paths": "/A/B ", "commands": "a;", "different": "a$b;c ", "tests": "[[ a && ", "strace": "strace ", "parallel": "parallel ", "git": "git -C ", "assignments": "a=$b ", "mixed": "env -x {a,b} $(x) xargs ; ", "lines": "a b\n", "escapes": `\`, "comments": "#\n", "extglob": "@(", "lets": "let a ", "else": "else ", "negated": "!(",
	}
}

func TestCommandsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement in which nothing runs at the same time: the race detector, for which -short stands, finds nothing in it")
	}
	for name, unit := range boundedUnits() {
		for _, tail := range []string{"", ")"} {
			for _, times := range []int{300, 900, (maxAnalysed - 8) / len(unit)} {
				line := strings.Repeat(unit, min(times, (maxAnalysed-8)/len(unit))) + tail
				began := time.Now()
				c := AnalyseCommands(line)
				if d := time.Since(began); d > time.Minute {
					t.Errorf("%s%s: %v", name, tail, d)
				}
				size := len(c.Last)
				for _, p := range c.Parts {
					size += len(p)
				}
				require.LessOrEqual(t, size, maxListed+maxAnalysed, name)
			}
		}
	}
	for _, line := range []string{strings.Repeat("{ ", 1_000_000), strings.Repeat("$(", 20_000)} {
		assert.True(t, AnalyseCommands(line).Unclear)
	}
}

func FuzzCommands(f *testing.F) {
	for _, s := range []string{
		"ls", "env -S 'rm x'", "bash -c 'rm $x'", "{a,{b,c}}d", "$'\\u0073\\x' x", "for i in a b; do $i; done", "echo a | sh", "<<E\nE", "xargs -I% sh -c %", "find . -exec a {} + -exec b \\;", "git -C x push", "let a; [[ a -eq b ]]", "setpriv --x y z", "a && b || c", "export A=b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		began := time.Now()
		c := AnalyseCommands(line)
		c.MayRun("git push", true)
		c.MayRun(line, false)
		c.RunsOnly(line, true)
		if d := time.Since(began); d > time.Minute {
			t.Fatalf("%v", d)
		}
		if len(c.Parts) != len(c.match) {
			t.Fatal("parts and their marks differ")
		}
		for _, p := range c.Parts {
			if strings.ContainsAny(p, "\x00\x01\x02\x03") {
				t.Fatalf("marks in %q", p)
			}
		}
		if c.Plain && (c.Unclear || len(c.Parts) == 0) {
			t.Fatalf("plain, but %+v", c)
		}
		if c.Plain && !c.MayRun(c.words[0], true) && !strings.ContainsAny(c.words[0], " \t\n'\"\\") {
			t.Fatalf("runs %q, but may not: %+v", c.words, c)
		}
	})
}
