package sandbox

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// never are commands that are not run with any arguments, and why.
var never = func() map[string]string {
	m := map[string]string{}
	for why, names := range map[string]string{
		"runs commands with the rights of another user":         "sudo sudo-rs sudoedit doas su pkexec runuser run0 gksu gksudo kdesu",
		"ends the work of the whole machine":                    "shutdown reboot halt poweroff telinit kexec",
		"destroys what is on a disk":                            "wipefs blkdiscard mke2fs newfs",
		"changes the running kernel":                            "insmod modprobe rmmod kextload",
		"leaves the confinement commands run in":                "unshare nsenter",
		"starts something outside of what this server controls": "systemd-run batch",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = why
		}
	}
	return m
}()

// rules denies a command for what it is and what its arguments say.
func (f *floor) rules(name string, args []string) {
	if why, ok := never[name]; ok {
		f.deny("%s %s", name, why)
		return
	}
	if strings.HasPrefix(name, "mkfs") {
		f.deny("%s destroys what is on a disk", name)
		return
	}
	switch name {
	case "cd", "pushd":
		f.changeDir(args)
	case "rm":
		f.remove(args)
	case "chmod", "chown", "chgrp":
		f.changeAll(name, args)
	case "dd":
		f.diskDump(args)
	case "mv":
		f.moveAway(args)
		f.overwrite(name, args)
	case "tee", "cp", "install", "shred", "truncate", "badblocks":
		f.overwrite(name, args)
	case "init":
		if len(args) > 0 && (args[0] == "0" || args[0] == "6") {
			f.deny("init %s ends the work of the whole machine", args[0])
		}
	case "systemctl", "loginctl":
		f.machine(name, args)
	case "crontab", "at":
		f.later(name, args)
	case "pkill", "killall", "kill":
		f.kill(name, args)
	case "iptables", "ip6tables", "iptables-legacy", "ip6tables-legacy", "iptables-nft", "ip6tables-nft", "nft":
		f.firewall(name, args)
	case "git":
		f.git(args)
	case "docker", "podman", "nerdctl":
		f.container(name, args)
	}
}

// long reports whether an option is a long one, possibly shortened to no less
// than the given number of characters.
func long(arg, name string, least int) bool {
	return len(arg) >= least && strings.HasPrefix(name, arg)
}

// letter reports whether a cluster of short options has one of some letters.
func letter(arg, letters string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg[1:], letters)
}

// operands are the words that are no options.
func operands(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i+1:]...)
		}
		if len(a) < 2 || a[0] != '-' {
			out = append(out, a)
		}
	}
	return out
}

// options are the words before "--".
func options(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return args
}

func (f *floor) remove(args []string) {
	recursive := false
	for _, a := range options(args) {
		recursive = recursive || letter(a, "rR") || long(a, "--recursive", 3)
		if long(a, "--no-preserve-root", 5) {
			f.deny("rm --no-preserve-root is for removing the whole system")
		}
	}
	if !recursive {
		return
	}
	for _, a := range operands(args) {
		if what := vital(f.from(a), true); what != "" {
			f.deny("rm would remove %s with all that is in it", what)
		}
	}
}

// changeDir notes where the commands after it run, if that is a place whose
// content must not be removed: `cd / && rm -rf *`.
func (f *floor) changeDir(args []string) {
	to := home
	if words := operands(args); len(words) > 0 {
		to = f.from(words[0])
	}
	f.dir = ""
	if vital(to, true) != "" {
		f.dir = to
	}
}

// from is a path as seen from where a cd of the line went.
func (f *floor) from(p string) string {
	if f.dir == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, home) {
		return p
	}
	return f.dir + "/" + p
}

// moveAway denies moving a vital directory to another name.
func (f *floor) moveAway(args []string) {
	words := operands(args)
	for i, a := range words {
		if i == len(words)-1 && len(words) > 1 {
			break
		}
		if what := vital(f.from(a), true); what != "" {
			f.deny("mv would take away %s", what)
		}
	}
}

func (f *floor) changeAll(name string, args []string) {
	recursive := slices.ContainsFunc(options(args), func(a string) bool { return letter(a, "R") || long(a, "--recursive", 5) })
	if !recursive {
		return
	}
	for _, a := range operands(args) {
		if what := vital(a, false); what != "" {
			f.deny("%s -R would change %s with all that is in it", name, what)
		}
	}
}

// find denies removing everything below a vital directory; what -exec runs is
// looked at like any command.
func (f *floor) find(args []string) {
	for i, a := range args {
		if f.reason != "" {
			return
		}
		switch a {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end] != ";" && (args[end] != "+" || args[end-1] != "{}") {
				end++
			}
			f.command(f.list.filled(args[i+1:end], "{}"), "")
		}
	}
	if !slices.Contains(args, "-delete") || slices.ContainsFunc(args, narrows) {
		return
	}
	for len(args) > 0 && (args[0] == "-H" || args[0] == "-L" || args[0] == "-P") {
		args = args[1:]
	}
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			break
		}
		if what := vital(a, true); what != "" {
			f.deny("find -delete would remove %s with all that is in it", what)
		}
	}
}

// narrows reports whether an expression of find picks out some files.
func narrows(a string) bool {
	for _, test := range []string{"name", "iname", "path", "ipath", "regex", "iregex", "wholename", "newer", "mtime", "mmin", "ctime",
		"cmin", "atime", "amin", "size", "empty", "user", "inum", "links", "perm", "lname"} {
		if strings.HasPrefix(a, "-"+test) {
			return true
		}
	}
	return false
}

func (f *floor) diskDump(args []string) {
	for _, a := range args {
		target, ok := strings.CutPrefix(a, "of=")
		if !ok {
			continue
		}
		if t := path.Clean(target); isDevice(t) || strings.HasPrefix(t, "/dev/") && !harmless(t) {
			f.deny("dd of=%s destroys what is on it", target)
		}
	}
}

func (f *floor) overwrite(name string, args []string) {
	targets := operands(args)
	if (name == "cp" || name == "mv" || name == "install") && len(targets) > 1 {
		targets = targets[len(targets)-1:]
	}
	for _, t := range targets {
		if isDevice(t) && (name != "badblocks" || slices.ContainsFunc(args, func(a string) bool { return letter(a, "w") })) {
			f.deny("%s would destroy what is on %s", name, t)
		}
	}
}

func (f *floor) machine(name string, args []string) {
	for _, a := range operands(args) {
		switch a {
		case "poweroff", "reboot", "halt", "kexec", "soft-reboot", "suspend", "hibernate", "hybrid-sleep", "rescue", "emergency",
			"poweroff.target", "reboot.target", "halt.target", "rescue.target", "emergency.target":
			f.deny("%s %s ends the work of the whole machine", name, a)
		}
	}
}

// later denies what makes commands run when nobody watches.
func (f *floor) later(name string, args []string) {
	looks := slices.ContainsFunc(args, func(a string) bool { return a == "-l" || a == "-V" || name == "at" && a == "-c" })
	if !looks {
		f.deny("%s starts something outside of what this server controls", name)
	}
}

func (f *floor) kill(name string, args []string) {
	if name == "kill" {
		for i, a := range args {
			if a == "-1" && i > 0 {
				f.deny("kill -1 ends every process of the user")
			}
		}
		return
	}
	w := wrapper{short: "gGPstuUFrcNyo", long: []string{"--signal", "--parent", "--user", "--euid", "--uid", "--group", "--pgroup", "--session", "--terminal"}}
	if name == "killall" {
		w = wrapper{short: "osuynZ", long: []string{"--signal", "--user", "--older-than", "--younger-than"}}
	}
	rest := w.inner(name, args)
	for _, a := range operands(rest) {
		if hitsUs(a) {
			f.deny("%s %s would end this server", name, a)
		}
	}
}

// hitsUs reports whether a pattern for process names matches ours.
func hitsUs(pattern string) bool {
	if pattern == "" || strings.Contains(pattern, unknown) {
		return false
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return strings.Contains(pattern, "mcp-tools")
	}
	return re.MatchString("mcp-tools serve") || strings.Contains(pattern, "mcp-tools")
}

func (f *floor) firewall(name string, args []string) {
	for _, a := range args {
		flush := a == "-F" || long(a, "--flush", 4) || letter(a, "F")
		if name == "nft" {
			flush = slices.Contains(strings.Fields(a), "flush")
		}
		if flush {
			f.deny("%s would remove the rules of the firewall", name)
		}
	}
}
