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
	bare  string   // letters that take no value: of the others that is not sure
	any   bool     // the command may begin at any word
}

// wrappers run the command that stands in their arguments.
var wrappers = map[string]wrapper{
	"builtin": {}, "nohup": {}, "setsid": {bare: "cfw"}, "unbuffer": {bare: "p"}, "busybox": {}, "toybox": {}, "catchsegv": {},
	"caffeinate": {short: "tw"}, "dbus-run-session": {}, "linux32": {}, "linux64": {}, "setarch": {skip: 1, bare: "vRFZLXBIST3"},
	"command": {bare: "pvV"}, "noglob": {}, "nocorrect": {}, "then": {}, "do": {}, "else": {}, "if": {}, "while": {}, "until": {},
	"coproc": {}, "!": {}, "exec": {short: "a", bare: "cl"},
	"env":    {short: "uC", long: []string{"--unset", "--chdir"}, bare: "i0v"},
	"nice":   {short: "n", long: []string{"--adjustment"}},
	"ionice": {short: "cnpPu", long: []string{"--class", "--classdata"}},
	"chrt":   {short: "TPD", skip: 1}, "taskset": {skip: 1, bare: "ac"}, "numactl": {short: "CNmpi", any: true},
	"timeout": {short: "ks", long: []string{"--kill-after", "--signal"}, skip: 1, bare: "fpv"},
	"time":    {short: "fo", long: []string{"--format", "--output"}, bare: "apqv"},
	"stdbuf":  {short: "ioe", long: []string{"--input", "--output", "--error"}},
	"xargs": {bare: "0oprtx", short: "aEIeLdnPslJRS", long: []string{"--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs",
		"--max-chars", "--replace-str", "--process-slot-var"}},
	"parallel": {short: "jSaIdLNnP", long: []string{"--jobs", "--arg-file", "--delimiter", "--max-args"}},
	"chroot":   {long: []string{"--userspec", "--groups"}, skip: 1},
	"flock":    {short: "wE", long: []string{"--timeout", "--wait", "--conflict-exit-code"}, skip: 1, bare: "exsunoF"},
	"strace":   {short: "aeEIopPsSuU", any: true}, "ltrace": {short: "aAeFlnopsSuw", any: true}, "fakeroot": {short: "lsifbu"},
	"rlwrap": {short: "abcCDefFglmMopqsStw"}, "prlimit": {any: true}, "setpriv": {any: true}, "xvfb-run": {short: "nefps", bare: "a"}, "dumb-init": {},
	"tini": {short: "pe"}, "entr": {bare: "acdnprsxz"}, "torsocks": {}, "proxychains": {short: "f"}, "proxychains4": {short: "f"},
	"chronic": {bare: "ve"}, "ifne": {bare: "n"}, "eatmydata": {}, "faketime": {short: "p", skip: 1, bare: "fm"}, "choom": {short: "n"},
	"uclampset": {short: "mM"}, "systemd-inhibit": {}, "cpulimit": {any: true}, "valgrind": {any: true}, "gdb": {any: true}, "perf": {any: true},
	"bwrap": {any: true}, "proot": {any: true}, "firejail": {any: true}, "fakechroot": {any: true}, dynamicLinker: {any: true},
}

// dynamicLinker stands for all programs that load another: ld-linux-x86-64.so.2, …
const dynamicLinker = "ld.so"

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
		if name == "env" && a == "-" { // as -i
			i++
			continue
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
	"csh": true, "tcsh": true, "yash": true, "posh": true, "lksh": true, "oksh": true,
}

// command looks at one simple command and the one it runs, if it is a wrapper.
// stdin is what it is known to read.
func (f *floor) command(args []string, stdin string) {
	for f.reason == "" && len(args) > 0 {
		if f.work += len(args) / 32; !f.goOn() {
			return
		}
		f.list.command(f, args)
		if args[0] == "" || args[0] == unknown || f.list != nil && strings.HasPrefix(args[0], unknown) {
			args = args[1:] // may be nothing: the next word is the command then
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
	name := strings.TrimSuffix(strings.ToLower(path.Base(unmarked.Replace(word))), ".exe")
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") || strings.HasPrefix(name, "ld.so") {
		return dynamicLinker
	}
	return name
}

var unmarked = strings.NewReplacer(unknown, "", home, "", single, "", closed, "")

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
			f.list.known(stdin)
			f.line(stdin)
		} else if len(args) > 0 {
			f.list.command(f, args)
		}
		return nil
	case "find":
		f.find(args)
		return nil
	case "fd", "fdfind":
		return f.list.filled(after(joined(args), "-x", "-X", "--exec", "--exec-batch"), "{")
	case "watch":
		f.line(strings.Join(wrapper{short: "nq", long: []string{"--interval"}}.inner(name, args), " "))
		return nil
	case "parallel":
		inner := wrappers[name].inner(name, args)
		if len(inner) == 0 || strings.HasPrefix(inner[0], ":::") {
			f.list.unsure() // runs the lines it reads
		}
		f.line(strings.Join(f.list.filled(inner, "{"), " ")) // through a shell
	case "entr":
		if len(args) > 0 && letter(args[0], "s") {
			f.line(strings.Join(args[1:], " "))
		}
	case "script", "flock", "sg":
		f.line(lineOption(args))
	case "mapfile", "readarray", "compgen", "complete":
		f.line(strings.Join(after(args, "-C"), " "))
		return nil
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
	inner := w.inner(name, args)
	f.list.wrapped(f, w, name, args, inner)
	if name == "xargs" {
		inner = f.list.appended(args, inner)
	}
	return inner
}

// joined takes -xrm and --exec=rm apart.
func joined(args []string) []string {
	for i, a := range args {
		for _, o := range []string{"--exec=", "--exec-batch=", "-x", "-X"} {
			if rest, ok := strings.CutPrefix(a, o); ok && rest != "" {
				return append([]string{"--exec", rest}, args[i+1:]...)
			}
		}
	}
	return args
}

// lineOption is the command line that -c or --command gives, also where it
// stands together with other letters.
func lineOption(args []string) string {
	for i, a := range args {
		if line, ok := strings.CutPrefix(a, "--command="); ok {
			return line
		}
		if a != "--command" && !letter(a, "c") {
			continue
		}
		if _, line, _ := strings.Cut(a, "c"); line != "" && a != "--command" {
			return line
		}
		return strings.Join(args[i+1:], " ")
	}
	return ""
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
	w := wrappers["env"]
	inner := w.inner("env", args)
	for i, a := range args[:len(args)-len(inner)] {
		if line, ok := splitOption(a, args[i+1:]); ok {
			f.line(line)
			return nil
		}
	}
	for len(inner) > 0 && strings.Contains(inner[0], "=") {
		f.list.assigned(inner[0])
		inner = inner[1:]
	}
	f.list.wrapped(f, w, "env", args, inner)
	return inner
}

// splitOption is the command line of env -S.
func splitOption(arg string, rest []string) (string, bool) {
	var line string
	cluster, value, short := strings.Cut(arg, "S")
	name, text, _ := strings.Cut(arg, "=")
	switch {
	case short && cluster != "" && cluster[0] == '-' && strings.Trim(cluster[1:], "i0v") == "":
		line = value
	case long(name, "--split-string", 3):
		line = text
	default:
		return "", false
	}
	line += " " + strings.Join(rest, " ")
	return strings.ReplaceAll(line, `\_`, " "), true // a blank to env
}

func (f *floor) definitions(name string, args []string) {
	if name == "alias" && len(args) > 0 {
		f.list.unsure()
	}
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
	f.list.shell(shell, args)
	line, input := false, false
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		a := args[0]
		args = args[1:]
		if a == "--" {
			break
		}
		if a == "--version" || a == "--help" {
			return
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
		f.list.known(stdin)
		f.nested(stdin, append([]string{shell}, args...))
	default:
		f.list.command(f, args) // a script
	}
}
