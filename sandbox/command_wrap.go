package sandbox

import (
	"path"
	"slices"
	"strings"
)

// wrapper tells where in a command's arguments another command begins.
type wrapper struct {
	short string   // options of one letter that take a value
	long  []string // long options that take the next word as value
	skip  int      // words before the command
}

// wrappers run the command that stands in their arguments.
var wrappers = map[string]wrapper{
	"builtin": {}, "nohup": {}, "setsid": {}, "unbuffer": {}, "busybox": {}, "toybox": {}, "catchsegv": {},
	"caffeinate": {short: "tw"}, "dbus-run-session": {}, "linux32": {}, "linux64": {}, "setarch": {skip: 1},
	"command": {}, "noglob": {}, "nocorrect": {}, "then": {}, "do": {}, "else": {}, "if": {}, "while": {}, "until": {},
	"coproc": {}, "!": {}, "exec": {short: "a"},
	"env":    {short: "uC", long: []string{"--unset", "--chdir"}},
	"nice":   {short: "n", long: []string{"--adjustment"}},
	"ionice": {short: "cnpPu", long: []string{"--class", "--classdata"}},
	"chrt":   {short: "TPD", skip: 1}, "taskset": {skip: 1}, "numactl": {short: "CNmpi"},
	"timeout": {short: "ks", long: []string{"--kill-after", "--signal"}, skip: 1},
	"time":    {short: "fo", long: []string{"--format", "--output"}},
	"stdbuf":  {short: "ioe", long: []string{"--input", "--output", "--error"}},
	"xargs": {short: "aEIeLdnPsl", long: []string{"--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs",
		"--max-chars", "--replace-str", "--process-slot-var"}},
	"parallel": {short: "jSaIdLNnP", long: []string{"--jobs", "--arg-file", "--delimiter", "--max-args"}},
	"chroot":   {long: []string{"--userspec", "--groups"}, skip: 1},
	"flock":    {short: "wE", long: []string{"--timeout", "--wait", "--conflict-exit-code"}, skip: 1},
	"strace":   {short: "aeEIopPsSuU"}, "ltrace": {short: "aAeFlnopsSuw"}, "fakeroot": {short: "lsifbu"},
	"rlwrap": {short: "abcCDefFglmMopqsStw"}, "prlimit": {}, "setpriv": {}, "xvfb-run": {short: "nefps"}, "dumb-init": {},
	"tini": {short: "pe"}, "entr": {}, "torsocks": {}, "proxychains": {short: "f"},
}

// optional marks those of the options above whose value must be joined.
var optional = map[string]string{"xargs": "eil"}

// inner returns the arguments of the wrapped command.
func (w wrapper) inner(name string, args []string) []string {
	i := 0
	for i < len(args) {
		a := args[i]
		if a == "--" {
			i++
			break
		}
		if len(a) < 2 || a[0] != '-' {
			break
		}
		i++
		if w.takesNext(name, a) {
			i++
		}
	}
	return args[min(i+w.skip, len(args)):]
}

// takesNext reports whether the word after an option is its value.
func (w wrapper) takesNext(name, option string) bool {
	if strings.HasPrefix(option, "--") {
		return slices.Contains(w.long, option)
	}
	for i := 1; i < len(option); i++ {
		if strings.IndexByte(optional[name], option[i]) >= 0 {
			return false
		}
		if strings.IndexByte(w.short, option[i]) >= 0 {
			return i == len(option)-1
		}
	}
	return false
}

// shells read command lines.
var shells = map[string]bool{
	"sh": true, "bash": true, "rbash": true, "dash": true, "ash": true, "zsh": true, "ksh": true, "mksh": true, "fish": true,
}

// command looks at one simple command and the one it runs, if it is a wrapper.
// stdin is what it is known to read.
func (f *floor) command(args []string, stdin string) {
	for f.reason == "" && len(args) > 0 {
		if f.work++; f.work > maxWork {
			f.deny("it is too complex to be looked into")
			return
		}
		if args[0] == unknown { // may be nothing: the next word is the command then
			args = args[1:]
			continue
		}
		name := commandName(args[0])
		if reason := disguised(strings.ReplaceAll(args[0], unknown, "")); reason != "" {
			f.deny("%s", reason)
			return
		}
		f.rules(name, args[1:])
		if shells[name] {
			f.shell(args, stdin)
			return
		}
		args = f.unwrap(name, args[1:], stdin)
	}
}

// commandName is a command's name without its directory. Case is folded as
// some file systems do.
func commandName(word string) string {
	word = strings.NewReplacer(unknown, "", home, "").Replace(word)
	return strings.ToLower(path.Base(word))
}

// unwrap returns the command that a wrapper runs, nil if there is none.
func (f *floor) unwrap(name string, args []string, stdin string) []string {
	switch name {
	case "eval":
		f.line(strings.Join(args, " "))
		return nil
	case "trap", "alias":
		f.definitions(name, args)
		return nil
	case "set":
		f.setParams(args)
		return nil
	case "source", ".":
		if len(args) > 0 && readsStdin(args[0]) {
			f.line(stdin)
		}
		return nil
	case "find":
		f.find(args)
		return nil
	case "fd", "fdfind":
		return after(args, "-x", "-X", "--exec", "--exec-batch")
	case "watch":
		f.line(strings.Join(wrapper{short: "nq", long: []string{"--interval"}}.inner(name, args), " "))
		return nil
	case "script", "flock":
		f.line(strings.Join(after(args, "-c", "--command"), " "))
	case "command":
		if len(args) > 0 && (args[0] == "-v" || args[0] == "-V") {
			return nil
		}
	case "env":
		return f.env(args)
	}
	w, ok := wrappers[name]
	if !ok {
		return nil
	}
	return w.inner(name, args)
}

// after returns what follows the first of some words.
func after(args []string, words ...string) []string {
	for i, a := range args {
		if slices.Contains(words, a) {
			return args[i+1:]
		}
	}
	return nil
}

// env skips assignments too; its -S takes a command line.
func (f *floor) env(args []string) []string {
	for i, a := range args {
		if line, ok := splitOption(a, args[i+1:]); ok {
			f.line(line)
			return nil
		}
	}
	args = wrappers["env"].inner("env", args)
	for len(args) > 0 && strings.Contains(args[0], "=") {
		args = args[1:]
	}
	return args
}

// splitOption is the command line of env -S.
func splitOption(arg string, rest []string) (string, bool) {
	var line string
	switch {
	case arg == "-S" || arg == "-vS" || arg == "-iS" || arg == "--split-string":
	case strings.HasPrefix(arg, "-S"):
		line = arg[2:]
	case strings.HasPrefix(arg, "--split-string="):
		line = arg[len("--split-string="):]
	default:
		return "", false
	}
	return line + " " + strings.Join(rest, " "), true
}

func (f *floor) definitions(name string, args []string) {
	for _, a := range args {
		if name == "trap" {
			if a == "-" || a == "--" {
				continue
			}
			f.line(a)
			return
		}
		if _, line, ok := strings.Cut(a, "="); ok {
			f.line(line)
		}
	}
}

// setParams takes "set -- words".
func (f *floor) setParams(args []string) {
	for i, a := range args {
		if a == "--" || a == "-" {
			f.params = append([]string{"bash"}, args[i+1:]...)
			return
		}
	}
}

func readsStdin(file string) bool {
	return file == "/dev/stdin" || file == "/dev/fd/0" || file == "/proc/self/fd/0" || file == "-"
}

// shell looks into the command line a shell is given, by -c or as input.
func (f *floor) shell(args []string, stdin string) {
	shell, args := args[0], args[1:]
	line, input := false, false
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		a := args[0]
		args = args[1:]
		if a == "--" {
			break
		}
		if strings.HasPrefix(a, "--") {
			if a == "--rcfile" || a == "--init-file" {
				args = args[min(1, len(args)):]
			}
			line = line || a == "--command"
			continue
		}
		line = line || strings.Contains(a, "c")
		input = input || strings.Contains(a, "s")
		if strings.HasSuffix(a, "o") || strings.HasSuffix(a, "O") {
			args = args[min(1, len(args)):]
		}
	}
	switch {
	case line && len(args) > 0:
		params := args[1:]
		if len(params) == 0 {
			params = []string{shell}
		}
		f.nested(args[0], params)
	case line:
	case len(args) == 0 || input || readsStdin(args[0]):
		f.nested(stdin, append([]string{shell}, args...))
	}
}
