package sandbox

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each row is a command line as a JSON string, a tab, and its verdict.
func TestDeniedTable(t *testing.T) {
	file, err := os.Open("testdata/denied.tsv")
	require.NoError(t, err)
	defer file.Close()
	rows := bufio.NewScanner(file)
	rows.Scan() // the heading
	for rows.Scan() {
		quoted, verdict, ok := strings.Cut(rows.Text(), "\t")
		require.True(t, ok, rows.Text())
		var line string
		require.NoError(t, json.Unmarshal([]byte(quoted), &line))
		reason, denied := Denied(line)
		assert.Equal(t, verdict == "deny", denied, "%s: %s", quoted, reason)
	}
	require.NoError(t, rows.Err())
}

func TestDenied(t *testing.T) {
	for _, line := range []string{
		// words and quotes
		`su''do ls`, `"sudo" ls`, `s\udo ls`, `$'\x73udo' ls`, `$'\163\165do' ls`, `\sudo ls`, `{sudo,ls}`, `{,sudo} ls`, `$'sudo\0x' ls`, `SUDO ls`, `/usr/bin/../bin/sudo ls`,
		`S=sudo; $S ls`, `C="sudo ls"; $C`, `export S=su; ${S}do ls`, `s${x}udo ls`, `$EMPTY sudo ls`, `${X:-sudo} ls`, `$(echo sudo) ls`, "`printf sudo` ls",
		`for c in sudo; do $c ls; done`, `set -- sudo ls; "$@"`, `A=1 B=2 sudo ls`, `! sudo ls`,
		// environments
		`env - sudo ls`, `env -i - sudo ls`, `env - A=b sudo ls`,
		// from another folder
		`cd / && rm -rf *`, `cd / ; rm -rf .`, `(cd /; rm -rf ./*)`, `cd ~ && rm -rf *`, `cd; rm -rf *`, `pushd /; rm -rf *`, `cd /usr && rm -rf lib`, `sh -c 'cd / && rm -rf *'`, `mv / /x`, `mv ~ /tmp/x`, `mv /* /tmp/x`,
		// places
		`ls; sudo ls`, `ls && sudo ls`, `ls | sudo tee x`, `(sudo ls)`, `{ sudo ls; }`, `if sudo true; then :; fi`, `while :; do sudo ls; done`,
		`f() { sudo ls; }; f`, `echo "$(sudo ls)"`, `cat <(sudo ls)`, `case x in *) sudo ls;; esac`, `sudo ls &`, "echo a\nsudo ls", `x=$(sudo ls)`,
		`time sudo ls`, `coproc sudo ls`, `[[ -n $(sudo ls) ]]`, "ls # no\nsudo ls", `select x in a; do sudo ls; done`,
		// wrappers
		`env sudo ls`, `env -i A=b sudo ls`, `env -u X sudo ls`, `env -S 'sudo ls'`, `env --split-string='sudo ls'`, `nice -n 5 sudo ls`, `nice -5 sudo ls`,
		`nohup sudo ls &`, `timeout 5 sudo ls`, `timeout -s KILL -k 1 5 sudo ls`, `timeout --signal=KILL 5 sudo ls`, `xargs sudo < f`, `xargs -n1 -I {} sudo rm {}`,
		`ls | xargs -0 -P 4 sudo rm`, `find . -name x -execdir sudo rm {} +`, `find / -delete`, `command sudo ls`, `command -p sudo ls`, `exec sudo ls`,
		`exec -a x sudo ls`, `builtin exec sudo ls`, `/usr/bin/time -f %e sudo ls`, `stdbuf -oL sudo ls`, `setsid -f sudo ls`, `busybox reboot`,
		`watch -n 1 sudo ls`, `flock f sudo ls`, `flock f -c 'sudo ls'`, `script -c 'sudo ls' f`, `chroot / sudo ls`, `strace -f -o x sudo ls`, `env nice nohup sudo ls`,
		`fd -x sudo rm`, `fd -xsudo rm`, `fd --exec=sudo rm`, `env sudo -S ls`, `env -i0S'sudo ls'`, `env -S 'sudo\_ls'`, `script -qc 'sudo ls' f`, `find . -exec env -u + sudo ls \;`, `parallel 'sudo rm' ::: x`,
		`/lib64/ld-linux-x86-64.so.2 /usr/bin/sudo ls`, `sudo.exe ls`, `csh -c 'sudo ls'`, `entr -s 'sudo ls'`, `trap 'sudo ls' EXIT`, `alias x='sudo ls'`, `ionice -c 3 sudo ls`,
		// shells
		`bash -c "bash -c 'sudo ls'"`, `sh -ec 'sudo ls'`, `bash -o pipefail -c 'sudo ls'`, `bash -lc -- 'sudo ls'`, `eval sudo ls`, `eval 'su''do ls'`,
		"bash <<EOF\nsudo ls\nEOF", "bash -s <<'EOF'\nls\nsudo ls\nEOF", `bash <<< 'sudo ls'`, `echo 'sudo ls' | sh`, `printf 'sudo %s\n' ls | bash -`, "cat <<E | sh\nsudo ls\nE",
		`bash -c '"$@"' _ sudo ls`, `bash -c '$0 ls' sudo`, `bash -c 'rm -rf "$1"' _ /`, `. /dev/stdin <<< 'sudo ls'`, `echo -e 'su\x64o ls' | sh`,
		// removing
		`rm -r -f /`, `rm --recursive --force /`, `rm -rf /*`, `rm -rf /.`, `rm -rf //`, `rm -rf /./`, `rm -rf /tmp/..`, `rm -rf "/"`, `rm -rf -- /`, `rm -Rf /`, `rm / -rf`,
		`rm -rf "$HOME"`, `rm -rf ${HOME}`, `rm -rf $HOME/`, `rm -rf ~/`, `rm -rf ~/*`, `rm -rf "$HOME"/*`, `rm -rf ~root`, `rm -rf ${HOME:?}/`, `rm -rf ./build ~`, `rm -rf /{bin,etc}`,
		`rm -rf /usr`, `rm -rf /etc/`, `rm -rf /etc/*`, `rm -rf /home/someone`, `rm -rf /[a-z]*`, `rm -rf /*/*`, `rm --rec /`, `rm --no-preserve-root x`, `cd / && rm -rf /*`,
		`xargs rm -rf / < f`, `find . -exec rm -rf / \;`, `for d in /tmp/x /; do rm -rf $d; done`, `D=/; rm -rf "$D"`, `rm -rf $(echo /)`,
		`chmod -R 777 /`, `chown -R me:me /usr`, `chmod --recursive 0 /etc`, `chgrp -hR x /*`, `find -L / -type f -delete`,
		// disks
		`mkfs /dev/sda1`, `mkfs.xfs -f x`, `wipefs -a /dev/sdb`, `dd if=/dev/zero of=/dev/sda bs=1M`, `dd of=/dev/nvme0n1 if=x`, `dd if=x of=//dev/../dev/sda`,
		`cat x > /dev/nvme0n1`, `echo x >> /dev/vda`, `echo x >| /dev/mmcblk0`, `echo x &> /dev/disk0`, `exec 3<> /dev/sda`, `tee /dev/sda < x`, `cp x.img /dev/sdb`, `shred /dev/sda`,
		`echo b > /proc/sysrq-trigger`, `echo x > /dev/mem`, `{ ls; } > /dev/hda`, `D=sda; echo x > /dev/$D`, `echo x > /dev/mapper/root`,
		// the machine
		`reboot`, `halt -p`, `poweroff`, `init 0`, `telinit 6`, `systemctl poweroff`, `systemctl --force reboot`, `systemctl isolate rescue.target`, `loginctl reboot`,
		`modprobe x`, `nsenter -t 1 -m sh`, `at now`, `crontab -e`, `crontab -r`, `echo x | crontab -`, `crontab`, `iptables -t nat -F`, `ip6tables --flush`, `nft flush ruleset`, `nft 'flush ruleset'`,
		`doas -u x ls`, `pkexec ls`, `su - -c ls`, `killall mcp-tools`, `pkill mcp`, `pkill -9 -f 'mcp.tools serve'`, `kill -9 -1`, `kill -KILL -- -1`,
		// fork bombs
		`:(){ :|:& };:`, `:(){ : | : & }; :`, `bomb() { bomb | bomb & }; bomb`, `function f { f & f & }; f`, `f(){ f|f; }; f`,
		// others
		`git push -f origin main`, `git push origin +main`, `git push origin +HEAD:refs/heads/master`, `git -C x push --force origin HEAD:main`, `git push origin main --force`,
		`git push origin :main`, `git push --delete origin master`, `git push -uf origin main`, `git -c a=b push --force --all origin`, `git push --mirror x`,
		`docker run --privileged x`, `docker run -it --rm -v /:/host x`, `docker run -v=/:/h x`, `docker run --volume=/:/h x`, `docker run --mount type=bind,src=/,dst=/h x`, `podman run -itv /:/h x`, `docker container run -v/:/h x`,
		// what is seen is not what is run
		"echo a\rrm b", "ls \u2066", "sud\u200bo ls", "\u00a0ls", "\u3164ls", "\uff53udo ls", "l\u217c ls\u200d", "\u0440m x", "\u03bfd x", "\x1b[2Kls", "\u200bls", "env \u0455udo x",
		// no valid bash
		"sudo ls (", "if true; sudo ls", "rm -rf / )", "x=1 sudo ls ;;", "echo 'a\nsudo ls", ":(){ :|:& };: )", "mkfs /dev/sda |", "echo x > /dev/sda )", "(ls; rm -rf ~", "bash -c 'sudo ls", "if x; then sudo y",
		strings.Repeat("a", maxAnalysed+1), strings.Repeat("(", 2000), strings.Repeat("eval ", 5) + nest("sudo ls", 3), nest("ls", 12),
	} {
		if _, denied := Denied(line); !denied {
			t.Errorf("not denied: %.200q", line)
		}
	}
}

// nest puts a line into eval so many times.
func nest(line string, times int) string {
	for range times {
		line = "eval '" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	}
	return line
}

func TestNotDenied(t *testing.T) {
	for _, line := range []string{
		`echo "sudo"`, `grep -r sudo .`, `git push --force-with-lease origin feature`, `cat reboot.md`, `man mkfs`, `echo 'rm -rf /'`, `which sudo`, `command -v sudo`, `type sudo`,
		`rm -rf ./build`, `rm -rf /tmp/x`, `rm -rf build/ dist/`, `rm -rf "$BUILD"`, `rm -rf "$DIR/"`, `rm -rf $HOME/project/build`, `rm -rf ~/.cache/x`, `rm -f /tmp/a`, `rm /etc`, `rm -rf /usr/local/x`,
		`cd build && rm -rf *`, `cd /tmp/x && rm -rf *`, `cd / && cd /tmp/x && rm -rf *`, `cd /; rm -rf /tmp/x`, `cd / && rm -f *`, `mv a b`, `mv /tmp/a ~/b`, `mv /tmp/a /`, `cd ~/project && rm -rf build`,
		`rm -rf '~'`, `rm -rf -- -r`, `rm -rf *`, `rm -rf .git`, `rm -rf ../x`, `rm -rf /tmp/*`, `rm -rf /home/u/project`, `rm -rf /var/tmp/x`, `rm -rf node_modules/{a,b}`, `rm -rf .`,
		`git commit -m "remove sudo; rm -rf /"`, `git log --grep 'sudo rm'`, `git push`, `git push origin main`, `git push -u origin main`, `git push --force origin feature`, `git push -f origin fix/main`, `git push --force`,
		`git push origin :old-branch`, `git fetch --force origin main`, `git branch -f main`, `git push --tags`, `git push -o main --force origin topic`,
		`dd if=/dev/zero of=disk.img bs=1M count=1`, `dd if=a of=/dev/null`, `echo x > /dev/null`, `ls > /dev/stderr 2>&1`, `cat < /dev/sda`, `echo x > dev/sda`, `ls -l /dev/sda`, `echo x > /dev/tty`, `tee /dev/null`, `cp /dev/sda x.img`,
		`chmod -R u+w .`, `chmod +x /usr/local/bin/x`, `chown -R me ~`, `chmod 755 /`, `chown me /`, `chmod -R 755 /usr/local/x`,
		`docker run --rm -v "$PWD":/src alpine`, `docker run -v /tmp:/tmp alpine`, `docker ps`, `podman build .`, `docker run --privileged=false x`, `docker compose up`, `docker run -v data:/ x`,
		`kill 123`, `kill -9 123`, `kill -1 123`, `kill %1`, `pkill node`, `killall python3`, `pkill -P 123`, `pkill -f 'npm run dev'`, `kill -TERM -123`, `pkill -u mcp-tools node`,
		`crontab -l`, `crontab -u x -l`, `at -l`, `systemctl status nginx`, `systemctl --user restart x`, `iptables -L`, `iptables -A INPUT -j DROP`, `nft list ruleset`, `init.sh`, `init`, `initdb -D x`,
		`find . -name '*.pyc' -delete`, `find / -name x -delete`, `find /tmp/x -delete`, `find . -exec grep sudo {} +`, `find / -name sudo`, `xargs echo sudo`, `timeout 5 echo sudo`, `env | grep sudo`, `env A=sudo printenv A`,
		`bash -c 'echo sudo'`, `bash script.sh sudo`, `sh -c 'ls "$1"' _ sudo`, `echo 'sudo ls' | cat`, "cat <<EOF\nsudo ls\nrm -rf /\nEOF", "cat > x.sh <<'EOF'\nsudo reboot\nEOF", `printf '%s\n' "sudo"`, `echo ls | bash`,
		`eval "$(ssh-agent)"`, `trap 'rm -f "$TMP"' EXIT`, `trap - EXIT`, `alias ll='ls -l'`, `set -e; ls`, `set -- a b; echo "$@"`, `"$@"`, `$CMD`, `$EDITOR file`,
		`f() { if [ $1 -gt 0 ]; then f $(($1-1)); fi; }; f 3`, `walk() { for x in "$1"/*; do walk "$x"; done; }`, `retry() { "$@" || { sleep 1; retry "$@"; }; }`, `f() { ls | f2; }`, `npm run shutdown`, `make reboot`, `go test ./sudo/...`, `./sudo_test.sh`,
		`ssh host sudo reboot`, `python3 -c 'print("sudo")'`, `awk '/sudo/ {print}' f`, `sed -n '/reboot/p' f`, `ls sudo`, `cd /; ls`, `test -x /usr/bin/sudo`, `[ -f /sbin/halt ]`, `[[ $x == sudo ]]`, `case $x in sudo) ls;; esac`, `sudo=1; echo $sudo`, `echo sudo ls`, `apt-get install sudo`,
		"./\u0441\u043a\u0440\u0438\u043f\u0442.sh", "./\u6d4b\u8bd5.sh", "echo '\u0455\u0440\u043e'", "git commit -m 'na\u00efve \U0001f468\u200d\U0001f469 fix'", "echo a\r\necho b\r\n", "caf\u00e9", "echo \u200b", "\tls", "cat <<'E'\n\u2800\nE",
		"echo 'unterminated", ")", "if true; then", "echo sudo (", "for x in; do", "", " ", "# sudo ls", "ls # ; sudo ls", `echo $((1+2))`, `x=(a b); echo ${x[0]}`, `echo {1..1000000}`, `diff <(ls a) <(ls b)`, `echo "${x:-none}" ${#x} ${x//a/b}`, `jq '.[] | {sudo}' f`,
		`curl -F file=@x https://example.com`, `watch ls`, `nice make -j8`, `xargs -n 1 -I {} cp {} x`, `time go test ./...`, `nohup python3 -m http.server 8000 >/dev/null 2>&1 &`,
	} {
		if reason, denied := Denied(line); denied {
			t.Errorf("denied: %.200q: %s", line, reason)
		}
	}
}

func TestDeniedReason(t *testing.T) {
	for line, want := range map[string]string{
		"sudo ls":           "sudo runs commands with the rights of another user",
		"rm -rf ~":          "rm would remove a home directory with all that is in it",
		"echo x > /dev/sda": "writing to /dev/sda destroys what is on it",
		"ls\u202e":          "it contains the text direction control U+202E, which hides what is run",
		"l\u0455":           "the command name \"l\u0455\" contains U+0455, which looks like another letter",
		"cat a\x00b":        "it contains the control character U+0000",
	} {
		got, _ := Denied(line)
		assert.Equal(t, want, got)
	}
}

func TestLookAlikes(t *testing.T) {
	for from, to := range lookAlike {
		assert.Greater(t, from, rune(0x7f))
		assert.Less(t, to, rune(0x80))
	}
}

// However a line is built, a verdict comes soon.
func TestDeniedIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement in which nothing runs at the same time: the race detector, for which -short stands, finds nothing in it")
	}
	for name, unit := range map[string]string{
		"braces": "{a,b}", "for": "for i in 1 2 3 4 5 6 7 8 9 0; do ", "eval": "eval ", "pipes": "echo a | bash | ", "and": "true && ", "substitution": "$(echo ",
		"parens": "(", "backticks": "`", "quotes": "'", "here": "<<a ", "vars": "x=$x$x; ", "functions": "f() { ", "defaults": "${x:-", "arith": "$((", "case": "case a in a) ",
		"index": "a[", "old arith": "$[", "double": `"$(`,
	} {
		for _, tail := range []string{"", " done", "x"} {
			line := strings.Repeat(unit, maxAnalysed/len(unit)-1) + tail
			began := time.Now()
			Denied(line)
			assert.Less(t, time.Since(began), time.Minute, name+tail)
		}
	}
	loops := strings.Repeat("for i in 1 2 3 4 5 6 7 8 9 0; do ", 12) + "ls" + strings.Repeat("; done", 12)
	_, denied := Denied(loops)
	assert.True(t, denied, "too complex")
	doubling := "x=aaaaaaaaaaaaaaaa; " + strings.Repeat("x=$x$x; ", 200) + "ls"
	Denied(doubling)
}

func FuzzDenied(f *testing.F) {
	for _, s := range []string{
		"sudo ls", "env -S 'sudo ls'", "bash -c 'rm -rf /'", "{a,{b,c}}d", "$'\\u0073\\x' x", "for i in a b; do $i; done", "echo a | sh", "<<E\nE", "f(){ f|f& };f", "set -- a; \"$@\"", "printf %s a | bash",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		began := time.Now()
		reason, denied := Denied(line)
		if denied != (reason != "") {
			t.Fatal("a verdict without a reason")
		}
		if !utf8.ValidString(reason) && utf8.ValidString(line) {
			t.Fatalf("reason %q", reason)
		}
		if d := time.Since(began); d > time.Minute {
			t.Fatalf("%v", d)
		}
	})
}

func BenchmarkDenied(b *testing.B) {
	for b.Loop() {
		Denied("cd sub && FOO=bar go test -run 'TestX' ./... 2>&1 | grep -v skip | head -50")
	}
}

func TestWhatAShellReadsIsLookedAtToo(t *testing.T) {
	for line, stdin := range map[string]string{"bash": "sudo ls", "sh -s": "rm -rf /", "cd x && bash": "sudo ls", ". /dev/stdin": "sudo ls"} {
		_, denied := DeniedReading(line, stdin)
		assert.True(t, denied, line)
	}
	for line, stdin := range map[string]string{"cat": "sudo ls", "python3": "sudo", "bash": "ls", "echo ls | bash": "sudo ls", "bash <<< ls": "sudo ls"} {
		reason, denied := DeniedReading(line, stdin)
		assert.False(t, denied, "%s: %s", line, reason)
	}
}

// Loops look at their words again and again, and functions at all in them: a
// short line must not cost more than a moment. The bound only guards against
// hanging.
func TestLoopsAndFunctionsAreBounded(t *testing.T) {
	loop := func(depth int, body string) string {
		return strings.Repeat("for a in a a a a a a a a a a a a a a a a a a a a; do ", depth) + body + strings.Repeat("; done", depth)
	}
	for name, line := range map[string]string{
		"braces":      loop(4, "x "+strings.Repeat("{a,b}", 5000)),
		"variables":   loop(4, "x "+strings.Repeat("$a ", 15000)),
		"assignments": loop(4, "x="+strings.Repeat("a", 50000)),
		"functions":   strings.Repeat("f() ", 15000) + "{ x; }",
	} {
		began := time.Now()
		Denied(line)
		AnalyseCommands(line)
		assert.Less(t, time.Since(began), time.Minute, name)
		t.Logf("%s: %v", name, time.Since(began))
	}
}
