package sandbox

import (
	"regexp"
	"slices"
	"strings"
)

// usage is how a command may be used to read. Options are listed, for what is not
// known may do anything; long ones must be written out in full.
type usage struct {
	flags  string // short options
	values string // short options with a value, attached or next
	long   string // long options, by words; "name=" takes a value
	most   int    // operands at most; 0: any number, -1: none
	single bool   // long options begin with one dash
	digits bool   // -5 is an option
	more   func(options, operands []string) (bad string)
}

// check says what of the arguments may do more than read.
func (u *usage) check(args []string) (bad string) {
	options, operands, bad := u.parse(args)
	switch {
	case bad != "":
		return bad
	case u.most < 0 && len(operands) > 0, u.most > 0 && len(operands) > u.most:
		return "with these operands may do more than read"
	case u.more != nil:
		return u.more(options, operands)
	}
	return ""
}

// parse parts options, as "-x" or "--name", "-x=value", from operands.
func (u *usage) parse(args []string) (options, operands []string, bad string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return options, append(operands, args[i+1:]...), ""
		case len(a) < 2 || a[0] != '-':
			operands = append(operands, a)
		case strings.HasPrefix(a, "--") || u.single:
			o, next, ok := u.longOption(a, args[i+1:])
			if !ok {
				return nil, nil, a + " is not known to only read"
			}
			options = append(options, o)
			i += next
		default:
			list, next, ok := u.shortOptions(a[1:], args[i+1:])
			if !ok {
				return nil, nil, a + " is not known to only read"
			}
			options = append(options, list...)
			i += next
		}
	}
	return options, operands, ""
}

// longOption takes --name, --name=value and --name value.
func (u *usage) longOption(a string, rest []string) (option string, next int, ok bool) {
	name, value, has := strings.Cut(strings.TrimLeft(a, "-"), "=")
	dashes := "--"
	if u.single {
		dashes = "-"
	}
	for word := range strings.FieldsSeq(u.long) {
		known, takes := strings.CutSuffix(word, "=")
		maybe := strings.HasSuffix(known, "[") // a value only after "="
		known = strings.TrimSuffix(known, "[")
		if known != name {
			continue
		}
		switch {
		case has && (takes || maybe):
			return dashes + name + "=" + value, 0, true
		case has:
			return "", 0, false
		case takes && !maybe:
			if len(rest) == 0 {
				return "", 0, false
			}
			return dashes + name + "=" + rest[0], 1, true
		}
		return dashes + name, 0, true
	}
	return "", 0, false
}

// shortOptions takes letters in one argument.
func (u *usage) shortOptions(letters string, rest []string) (options []string, next int, ok bool) {
	for i := 0; i < len(letters); i++ {
		c := letters[i]
		switch {
		case strings.IndexByte(u.values, c) >= 0:
			value := letters[i+1:]
			if value == "" {
				if len(rest) == 0 {
					return nil, 0, false
				}
				value, next = rest[0], 1
			}
			return append(options, "-"+string(c)+"="+value), next, true
		case strings.IndexByte(u.flags, c) >= 0, u.digits && c >= '0' && c <= '9':
			options = append(options, "-"+string(c))
		default:
			return nil, 0, false
		}
	}
	return options, 0, true
}

// tellsVersion are programs that do nothing else when asked for their version. Those
// that let a file of the project say which program answers (cargo, rustc, yarn, pnpm,
// dotnet …) are not among them.
var tellsVersion = set("node npm python python3 pip pip3 java javac gcc g++ clang cc make cmake git docker bash zsh go perl ls cat grep rg find jq sed awk tar curl wget")

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

const grepLong = "line-number recursive ignore-case invert-match word-regexp count files-with-matches files-without-match fixed-strings extended-regexp perl-regexp only-matching no-filename with-filename quiet silent no-messages text color[ colour[ include= exclude= exclude-dir= max-count= after-context= before-context= context= regexp= binary-files= byte-offset null line-regexp"

// readers are the commands that only read when used as their entry says.
var readers = map[string]func(args []string) (bad string){
	"ls":        (&usage{flags: "aAlhrtRS1dFipsctuXkgGnoBbCfHLmNqQUvxZ", long: "all almost-all color[ human-readable recursive reverse size sort= time= classify directory inode group-directories-first full-time format= time-style= numeric-uid-gid no-group si"}).check,
	"cat":       (&usage{flags: "nbsveETAtu", long: "number number-nonblank squeeze-blank show-all show-ends show-tabs show-nonprinting"}).check,
	"head":      (&usage{flags: "qvz", values: "nc", long: "lines= bytes= quiet silent verbose", digits: true}).check,
	"tail":      (&usage{flags: "qvz", values: "nc", long: "lines= bytes= quiet silent verbose", digits: true}).check,
	"tac":       (&usage{flags: "br", values: "s"}).check,
	"rev":       (&usage{}).check,
	"nl":        (&usage{values: "bdfhilnsvw", flags: "p"}).check,
	"wc":        (&usage{flags: "lwcmL", long: "lines words bytes chars max-line-length"}).check,
	"pwd":       (&usage{flags: "LP", most: -1}).check,
	"echo":      printsOnly,
	"printf":    printfPrints,
	"true":      printsOnly,
	"false":     printsOnly,
	":":         printsOnly,
	"seq":       (&usage{flags: "w", values: "sf", long: "equal-width separator= format=", most: 3}).check,
	"sleep":     (&usage{most: 1}).check,
	"rg":        (&usage{flags: "nilcwvFoSsUHhNLu.xaPp", values: "egtTABCmdjrE", long: "line-number no-line-number ignore-case smart-case case-sensitive files files-with-matches files-without-match count count-matches word-regexp invert-match fixed-strings only-matching multiline hidden no-ignore no-ignore-vcs no-heading heading no-filename with-filename follow json stats glob= iglob= type= type-not= max-count= max-depth= context= after-context= before-context= color= colors= sort= sortr= regexp= replace= pcre2 vimgrep column trim text type-list no-messages max-columns= max-filesize= encoding= no-config passthru null"}).check,
	"grep":      (&usage{flags: "nilcwvFoEGPHhsqrRxLaIzZTUb", values: "eABCmdD", long: grepLong, digits: true}).check,
	"egrep":     (&usage{flags: "nilcwvFoEGPHhsqrRxLaIzZTUb", values: "eABCmdD", long: grepLong, digits: true}).check,
	"fgrep":     (&usage{flags: "nilcwvFoEGPHhsqrRxLaIzZTUb", values: "eABCmdD", long: grepLong, digits: true}).check,
	"fd":        (&usage{flags: "HIupsgFaLl0", values: "tedESCj", long: "hidden no-ignore unrestricted glob fixed-strings absolute-path follow full-path type= extension= max-depth= min-depth= exclude= size= color= max-results= changed-within= changed-before= list-details"}).check,
	"find":      findReads,
	"sort":      (&usage{flags: "bdfghinMRrVuczsm", values: "kt", long: "reverse unique numeric-sort human-numeric-sort version-sort ignore-case key= field-separator= check stable month-sort general-numeric-sort ignore-leading-blanks dictionary-order zero-terminated"}).check,
	"uniq":      (&usage{flags: "cdDuiz", values: "fsw", long: "count repeated unique ignore-case skip-fields= skip-chars= check-chars=", most: 1}).check,
	"cut":       (&usage{flags: "snz", values: "dfcb", long: "delimiter= fields= characters= bytes= complement only-delimited output-delimiter="}).check,
	"tr":        (&usage{flags: "cCdst", long: "delete squeeze-repeats complement truncate-set1"}).check,
	"paste":     (&usage{flags: "sz", values: "d", long: "serial delimiters="}).check,
	"comm":      (&usage{flags: "123z", long: "nocheck-order check-order"}).check,
	"join":      (&usage{values: "12aejotv", flags: "iz"}).check,
	"column":    (&usage{flags: "tnxe", values: "sNocRHL"}).check,
	"fold":      (&usage{flags: "bs", values: "w", long: "width= spaces bytes"}).check,
	"fmt":       (&usage{flags: "cstu", values: "wgp", long: "width="}).check,
	"expand":    (&usage{flags: "i", values: "t"}).check,
	"unexpand":  (&usage{flags: "a", values: "t"}).check,
	"diff":      (&usage{flags: "uNrqbBwiaytTpEsce", values: "UxIC", long: "brief unified[ recursive new-file ignore-all-space ignore-space-change ignore-blank-lines ignore-case color[ side-by-side suppress-common-lines stat exclude= width= label= text report-identical-files", most: 2}).check,
	"cmp":       (&usage{flags: "lsb", values: "in", most: 2}).check,
	"md5sum":    (&usage{flags: "btz"}).check,
	"sha1sum":   (&usage{flags: "btz"}).check,
	"sha256sum": (&usage{flags: "btz"}).check,
	"sha512sum": (&usage{flags: "btz"}).check,
	"cksum":     (&usage{}).check,
	"shasum":    (&usage{flags: "bt", values: "a"}).check,
	"base64":    (&usage{flags: "di", values: "w", long: "decode wrap=", most: 1}).check,
	"od":        (&usage{flags: "abcdfiloxsv", values: "AjNtw"}).check,
	"xxd":       (&usage{flags: "abiupE", values: "clsgo", most: 1}).check,
	"hexdump":   (&usage{flags: "bcCdovx", values: "ns"}).check,
	"strings":   (&usage{flags: "aof", values: "nte"}).check,
	"stat":      (&usage{flags: "Lftx", values: "c", long: "format= printf= dereference terse"}).check,
	"file":      (&usage{flags: "bikLhNr0", long: "brief mime mime-type mime-encoding dereference no-dereference"}).check,
	"basename":  (&usage{flags: "az", values: "s", long: "suffix= multiple"}).check,
	"dirname":   (&usage{flags: "z"}).check,
	"realpath":  (&usage{flags: "emsqzLP", long: "relative-to= relative-base= canonicalize-existing canonicalize-missing no-symlinks"}).check,
	"readlink":  (&usage{flags: "femnqsvz", long: "canonicalize canonicalize-existing canonicalize-missing"}).check,
	"du":        (&usage{flags: "hsackxbmSLD0l", values: "dtB", long: "human-readable summarize all total max-depth= apparent-size exclude= threshold="}).check,
	"df":        (&usage{flags: "hTiaPkHl", long: "human-readable print-type inodes all"}).check,
	"date":      (&usage{flags: "uR", values: "d", long: "utc universal date= iso-8601[ rfc-3339= rfc-email", more: dateShows}).check,
	"cal":       (&usage{flags: "13jmy"}).check,
	"id":        (&usage{flags: "ungGrz", long: "user name group groups"}).check,
	"whoami":    (&usage{most: -1}).check,
	"groups":    (&usage{most: 1}).check,
	"hostname":  (&usage{flags: "fsidI", most: -1}).check,
	"uname":     (&usage{flags: "asnrvmpio", most: -1}).check,
	"uptime":    (&usage{flags: "ps", most: -1}).check,
	"arch":      (&usage{most: -1}).check,
	"nproc":     (&usage{long: "all", most: -1}).check,
	"free":      (&usage{flags: "bkmghtw", most: -1}).check,
	"which":     (&usage{flags: "as"}).check,
	"type":      (&usage{flags: "atpP"}).check,
	"command":   commandTells,
	"test":      testReads,
	"[":         testReads,
	"expr":      printsOnly,
	"jq":        (&usage{flags: "rcnesSjaCMR", long: "raw-output compact-output null-input exit-status slurp sort-keys join-output ascii-output color-output monochrome-output raw-input tab seq stream indent=", more: jqFilter}).check,
	"tree":      (&usage{flags: "adfipshDtrCNlugFqv", values: "LIP", long: "dirsfirst noreport prune gitignore du sort= filelimit= charset="}).check,
	"sed":       (&usage{flags: "nEr", values: "e", long: "quiet silent expression= regexp-extended", more: sedPrints}).check,
	"awk":       (&usage{values: "F", more: awkPrints}).check,
	"cd":        cdStays,
	"git":       gitReads,
	"go":        goReads,
	"ps":        (&usage{flags: "eflAajuxwH", values: "opCU", long: "forest sort= pid= no-headers", most: 1, more: psShows}).check,
}

// printsOnly: whatever the arguments are, they are only printed.
func printsOnly([]string) string { return "" }

// printfPrints: with -v it would set a variable, and run what stands in its index.
func printfPrints(args []string) string {
	if len(args) == 0 {
		return ""
	}
	if strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "./") || setsVariable.MatchString(args[0]) {
		return "with " + args[0] + " may set a variable"
	}
	return ""
}

// setsVariable is a format with %n.
var setsVariable = regexp.MustCompile(`(^|[^\\])(\\\\)*%[^a-zA-Z%\\]*[hlLjzt]*n`)

// cdStays: into one folder below; without one it would go home, and with "-" back.
func cdStays(args []string) string {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return "may leave the folder"
	}
	return ""
}

// commandTells: which program a name stands for.
func commandTells(args []string) string {
	if len(args) == 2 && (args[0] == "-v" || args[0] == "-V") {
		return ""
	}
	return "would run what follows it"
}

// testReads: without -v, which runs what stands in an index, and without numbers,
// which older shells evaluate.
func testReads(args []string) string {
	for _, a := range args {
		switch a {
		case "!", "=", "!=", "-a", "-o", "]", "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-n", "-z", "-nt", "-ot", "(", ")":
			continue
		}
		if strings.HasPrefix(a, "-") {
			return a + " is not known to only read"
		}
	}
	return ""
}

// findTests are what find may look for and print; those with a value come first.
var (
	findValues = set("-name -iname -path -ipath -wholename -type -size -mtime -mmin -atime -amin -ctime -cmin -newer -maxdepth -mindepth -regex -iregex -regextype -perm -user -group -printf -links -inum -samefile")
	findPlain  = set("-not ! ( ) -o -or -a -and -print -print0 -prune -empty -readable -writable -executable -true -false -L -P -H -xdev -mount -depth -ls -quit -follow -daystart -nouser -nogroup")
)

func findReads(args []string) string {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case findValues[a]:
			i++
		case findPlain[a]:
		case strings.HasPrefix(a, "-"):
			return a + " is not known to only read"
		}
	}
	return ""
}

// goReads: what go tells of itself.
func goReads(args []string) string {
	if len(args) == 0 {
		return ""
	}
	rest := args[1:]
	switch args[0] {
	case "version":
		if len(rest) == 0 {
			return ""
		}
	case "env":
		for _, a := range rest {
			if a != "-json" && (strings.HasPrefix(a, "-") || strings.Contains(a, "=")) {
				return "env " + a + " may change its settings"
			}
		}
		return ""
	case "help":
		return ""
	}
	return args[0] + " may build, fetch or run something"
}

// dateShows: an operand that is no format would set the clock.
func dateShows(_, operands []string) string {
	for _, o := range operands {
		if !strings.HasPrefix(o, "+") {
			return "with " + o + " would set the clock"
		}
	}
	return ""
}

func psShows(_, operands []string) string {
	if len(operands) > 0 && !slices.Contains([]string{"aux", "ax", "auxf", "auxww"}, operands[0]) {
		return "with " + operands[0] + " may show more than processes"
	}
	return ""
}

// jqWord: parts of jq's language that read the environment or other files.
var jqWord = regexp.MustCompile(`\b(env|ENV|import|include|input_filename|get_search_list|halt_error|debug|stderr|modulemeta|\$__prog_args)\b`)

func jqFilter(_, operands []string) string {
	if len(operands) > 0 && strings.HasPrefix(operands[0], "./") {
		return "needs a filter first"
	}
	if len(operands) > 0 && jqWord.MatchString(operands[0]) {
		return "with this filter may show more than its files"
	}
	return ""
}

// sedScript prints lines by number, or replaces a text that is then printed.
var sedScript = regexp.MustCompile(`^(\d+|\$)(,(\d+|\$))?p$|^s/[^/\\\n]*/[^/\\\n]*/g?$`)

func sedPrints(options, operands []string) string {
	scripts := 0
	for _, o := range options {
		if name, value, ok := strings.Cut(o, "="); ok && (name == "-e" || name == "--expression") {
			if scripts++; !sedScript.MatchString(value) {
				return "with this script may write or run something"
			}
		}
	}
	if scripts == 0 && (len(operands) == 0 || !sedScript.MatchString(operands[0])) {
		return "with this script may write or run something"
	}
	return ""
}

// awkScript prints fields of lines.
var awkScript = regexp.MustCompile(`^(/[^/\\\n]*/ ?|NR ?[=<>]=? ?\d+ ?)?(\{ ?print( ?\$(\d+|NF))?(,? ?\$(\d+|NF))* ?\})?$`)

func awkPrints(_, operands []string) string {
	if len(operands) == 0 || operands[0] == "" || !awkScript.MatchString(operands[0]) {
		return "with this program may write or run something"
	}
	for _, o := range operands[1:] {
		if strings.Contains(o, "=") {
			return "would set a variable"
		}
	}
	return ""
}
