package sandbox

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// systemPaths are directories no system goes on without.
var systemPaths = strings.Fields("/bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /var " +
	"/usr/bin /usr/lib /usr/lib64 /usr/sbin /usr/share /var/lib /Users /System /Library /Applications /private /private/etc /private/var /Volumes /nix")

var wild = regexp.MustCompile(`^[*?.!^]*(\[[^\]]*\][*?.]*)*$`)

// vital names what a path leads to if it is the whole system or an essential
// part of it; homes too, if they count. "" if it is neither, or not known.
func vital(p string, homes bool) string {
	if strings.Contains(p, unknown) || !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, home) {
		return ""
	}
	p = path.Clean(strings.ReplaceAll(p, home, "/"+home))
	for path.Base(p) != "/" && wild.MatchString(path.Base(p)) {
		p = path.Dir(p) // all that is in a directory
	}
	switch dir := path.Dir(p); {
	case p == "/":
		return "the whole system"
	case slices.Contains(systemPaths, p):
		return p
	case !homes:
	case p == "/"+home, dir == "/home", dir == "/Users":
		return "a home directory"
	}
	return ""
}

// device matches disks, memory and what else in /dev must not be written to.
var device = regexp.MustCompile(`^/dev/((sd|hd|vd|xvd)[a-z]|nvme\d|mmcblk\d|r?disk|loop\d|md|dm-|mapper/|sr\d|nbd\d|ram\d|zram\d|pmem|bcache|mtd|k?mem|port|block/|mem$)`)

func isDevice(p string) bool {
	if !strings.HasPrefix(p, "/") {
		return false
	}
	p = path.Clean(p)
	return device.MatchString(p) || p == "/proc/sysrq-trigger" || p == "/proc/kcore" || p == "/dev/mapper"
}

// harmless reports whether a path in /dev may be written to.
func harmless(p string) bool {
	switch p {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	return strings.HasPrefix(p, "/dev/fd/") || strings.HasPrefix(p, "/dev/shm/")
}

// gitOptions are those before git's command.
var gitOptions = wrapper{short: "Cc", long: []string{"--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source"}}

// git denies overwriting or removing a main branch on a server.
func (f *floor) git(args []string) {
	args = gitOptions.inner("git", args)
	if len(args) == 0 || args[0] != "push" {
		return
	}
	p := parsePush(args[1:])
	for i, ref := range p.words {
		forced := p.force || strings.HasPrefix(ref, "+")
		from, to, pair := strings.Cut(strings.TrimPrefix(ref, "+"), ":")
		if !pair {
			to = from
		}
		to = strings.TrimPrefix(to, "refs/heads/")
		if i == 0 || to != "main" && to != "master" { // the first word is the remote
			continue
		}
		switch {
		case forced:
			f.deny("git push --force would overwrite the branch %s for everybody", to)
		case p.remove || pair && from == "":
			f.deny("git push would remove the branch %s for everybody", to)
		}
	}
	if p.force && p.all {
		f.deny("git push --force would overwrite all branches for everybody")
	}
}

type push struct {
	force, remove, all bool
	words              []string
}

func parsePush(args []string) (p push) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-o" || a == "--push-option" || a == "--receive-pack" || a == "--exec" || a == "--repo":
			i++
		case a == "--force" || a == "--mirror":
			p.force, p.all = true, p.all || a == "--mirror"
		case a == "--all" || a == "--branches":
			p.all = true
		case a == "--delete":
			p.remove = true
		case strings.HasPrefix(a, "--"):
		case letter(a, "f"):
			p.force = true
		case letter(a, "d"):
			p.remove = true
		case !strings.HasPrefix(a, "-"):
			p.words = append(p.words, a)
		}
	}
	return p
}

// container denies containers that are none: with all rights, or with the
// machine's whole file system in them.
func (f *floor) container(name string, args []string) {
	if !slices.ContainsFunc(args, func(a string) bool { return a == "run" || a == "create" || a == "exec" }) {
		return
	}
	for i, a := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		if a == "--privileged" || a == "--privileged=true" {
			f.deny("%s --privileged gives the container all rights on this machine", name)
		}
		if mountsRoot(a, next) {
			f.deny("%s would give the container the whole file system of this machine", name)
		}
	}
}

func mountsRoot(option, next string) bool {
	name, value, joined := strings.Cut(option, "=")
	if !joined {
		value = next
	}
	switch {
	case name == "--volume" || name == "-v":
		return isRootVolume(value)
	case name == "--mount":
		for _, part := range strings.Split(value, ",") {
			k, v, _ := strings.Cut(part, "=")
			if (k == "src" || k == "source") && vital(v, false) == "the whole system" {
				return true
			}
		}
		return false
	case letter(option, "v"):
		_, value, _ := strings.Cut(option, "v")
		return isRootVolume(strings.TrimPrefix(value, "=")) || value == "" && isRootVolume(next)
	}
	return false
}

func isRootVolume(v string) bool {
	host, _, ok := strings.Cut(v, ":")
	return ok && strings.HasPrefix(host, "/") && path.Clean(host) == "/"
}
