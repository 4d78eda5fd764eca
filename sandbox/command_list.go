package sandbox

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxListed bounds the bytes of all commands listed for a line.
	maxListed = 256 << 10
	// maxParts bounds how many they are.
	maxParts = 4000
	// maxWritten bounds what is quoted of a part that is only known when the line runs.
	maxWritten = 80
)

// listing makes a floor list what a line runs instead of seeking a reason to
// deny it. Nothing is taken for known that depends on what ran before: variables,
// parameters, names of files. Its methods do nothing on nil.
type listing struct {
	parts, match []string // for people, and with marks
	seen         map[string]bool
	size         int
	unclear      bool
	globs        bool // words stand where names of files replace them
	code         bool // some quoted text would run if it were evaluated once more
	evaluates    bool // something is evaluated once more
}

func (l *listing) unsure() {
	if l != nil {
		l.unclear = true
	}
}

// known marks a line as unclear if a shell reads from where nothing is known of.
func (l *listing) known(stdin string) {
	if stdin == "" {
		l.unsure()
	}
}

// enter prepares a line that may come from words with marks: what they stand
// for would be read as commands too.
func (l *listing) enter(line string) string {
	if l == nil {
		return line
	}
	if bare := unmarked.Replace(line); bare != line {
		l.unclear = true
		return bare
	}
	return line
}

// add lists a command.
func (l *listing) add(f *floor, args []string) {
	for _, a := range args {
		l.size += len(a) + 1
	}
	if l.size > maxListed || len(l.parts) >= maxParts {
		f.giveUp("it has too many commands to be listed")
		return
	}
	marked := strings.Join(args, " ")
	if l.seen[marked] {
		return
	}
	l.seen[marked] = true
	l.match = append(l.match, marked)
	l.parts = append(l.parts, shown(args))
}

// shown is how a command is shown: dynamic parts as they are written.
func shown(args []string) string {
	var words []string
	for _, a := range args {
		if w := unmarked.Replace(a); w != "" || a == "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// command lists a command as it stands there, and with its program's bare name.
func (l *listing) command(f *floor, args []string) {
	if l == nil {
		return
	}
	if strings.ContainsAny(args[0], unknown+single) {
		l.unclear = true
	}
	l.add(f, args)
	name := path.Base(unmarked.Replace(args[0]))
	for _, n := range []string{name, strings.TrimSuffix(strings.ToLower(name), ".exe")} {
		if n != args[0] && args[0] != "" {
			l.add(f, append([]string{n}, args[1:]...))
		}
	}
	if rest := gitOptions.inner("git", args[1:]); name == "git" && len(rest) < len(args)-1 {
		l.add(f, append([]string{name}, rest...)) // git -C dir push is git push
	}
	l.builtin(commandName(args[0]), args[1:])
}

// builtin looks for commands that change what others mean, or evaluate words.
func (l *listing) builtin(name string, args []string) {
	switch name {
	case "hash":
		l.unclear = l.unclear || slices.ContainsFunc(args, func(a string) bool { return letter(a, "p") })
	case "enable":
		l.unclear = l.unclear || slices.ContainsFunc(args, func(a string) bool { return letter(a, "f") })
	case "bind", "fc", "pwsh", "powershell", "cmd":
		l.unclear = l.unclear || len(args) > 0
	case "source", ".":
		l.unclear = l.unclear || len(args) > 0 && strings.ContainsAny(args[0], unknown+single)
	case "let", "test", "[", "printf", "read", "unset", "wait", "mapfile", "readarray", "getopts", "declare", "typeset", "local", "export", "readonly":
		l.evaluates = true
		for _, a := range args {
			if strings.Contains(a, "=") {
				l.assigned(a)
			}
		}
	}
}

// assigned looks at a value that is set: some variables are evaluated.
func (l *listing) assigned(value string) {
	if l != nil && (runs(value) || strings.Contains(value, "BASH_FUNC_")) {
		l.unclear = true
	}
}

// runs reports whether a text would run commands if it were evaluated.
func runs(text string) bool {
	return strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, "${") || strings.HasSuffix(text, "$")
}

// shell looks at the arguments of a shell for what cannot be followed.
func (l *listing) shell(name string, args []string) {
	if l == nil {
		return
	}
	switch commandName(name) {
	case "fish", "zsh", "csh", "tcsh": // their language is another
		l.unclear = true
	}
	for _, a := range args {
		if strings.HasPrefix(a, unknown) || strings.HasPrefix(a, single) {
			l.unclear = true
		}
		if len(a) > 0 && a[0] != '-' && a[0] != '+' {
			return
		}
	}
}

// wrapped looks at how a wrapper's arguments were read. Where it is not sure
// which word begins the inner command, all that may are listed.
func (l *listing) wrapped(f *floor, w wrapper, name string, args, inner []string) {
	if l == nil {
		return
	}
	before := args[:len(args)-len(inner)]
	for _, a := range before {
		if strings.Contains(a, unknown) || strings.HasPrefix(a, single) {
			l.unclear = true
		}
	}
	if w.any {
		for i := range args {
			if i != len(before) {
				f.command(args[i:], "")
			}
		}
		return
	}
	last := len(before) - 1 - w.skip
	if len(inner) == 0 || last < 0 || !w.unsure(before[last]) {
		return
	}
	f.command(w.inner(name, inner[1:]), "") // the word may be the value of the option
}

// unsure reports whether an option may take the next word for its value, though
// nothing is known of that.
func (w wrapper) unsure(option string) bool {
	if len(option) < 2 || option[0] != '-' || option == "--" || strings.Contains(option, "=") {
		return false
	}
	if strings.HasPrefix(option, "--") {
		return !slices.Contains(w.long, option)
	}
	for i := 1; i < len(option); i++ {
		switch c := option[i]; {
		case strings.IndexByte(w.short, c) >= 0:
			return false
		case c >= '0' && c <= '9' || strings.IndexByte(w.bare, c) >= 0:
		default:
			return i == len(option)-1
		}
	}
	return false
}

// filled marks the words in which a wrapper puts something of its own.
func (l *listing) filled(args []string, place string) []string {
	if l == nil || place == "" {
		return args
	}
	out := slices.Clone(args)
	for i, a := range out {
		if strings.Contains(a, place) {
			out[i] = unknown + a + closed
		}
	}
	return out
}

// appended is the command of xargs with what it reads.
func (l *listing) appended(args, inner []string) []string {
	if l == nil || len(inner) == 0 {
		return inner
	}
	options := args[:len(args)-len(inner)]
	inner = l.filled(inner, "{}")
	for i, o := range options {
		switch {
		case (o == "-I" || o == "-J" || strings.HasPrefix(o, "-") && strings.HasSuffix(o, "I")) && i+1 < len(options):
			inner = l.filled(inner, options[i+1])
		case strings.HasPrefix(o, "--replace="):
			inner = l.filled(inner, o[len("--replace="):])
		case letter(o, "Ii"):
			_, place, _ := strings.Cut(strings.Replace(o, "i", "I", 1), "I")
			inner = l.filled(inner, place)
		}
	}
	return append(slices.Clip(inner), unknown+closed)
}

// node looks at what no command shows.
func (l *listing) node(f *floor, n syntax.Node) {
	switch n := n.(type) {
	case *syntax.TestClause:
		l.add(f, []string{"[["})
	case *syntax.DeclClause:
		l.declare(f, n)
	case *syntax.LetClause:
		l.evaluates = true
		l.add(f, []string{"let"})
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.CStyleLoop:
		l.evaluates = true
	case *syntax.BinaryTest:
		l.evaluates = l.evaluates || n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr
	case *syntax.UnaryTest:
		l.evaluates = l.evaluates || n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
	case *syntax.ParamExp:
		l.evaluates = l.evaluates || n.Excl || n.Index != nil || n.Slice != nil || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps
	case *syntax.Assign:
		l.evaluates = l.evaluates || n.Index != nil
		if n.Value != nil {
			l.static(f, n.Value)
		}
	case *syntax.SglQuoted:
		l.code = l.code || runs(n.Value) || n.Dollar && runs(unescapeQuoted(n.Value))
	case *syntax.Lit:
		l.code = l.code || strings.ContainsAny(n.Value, "\\`$") && runs(literal(n.Value, false, false))
	}
}

// static looks at the text an assignment has without its dynamic parts.
func (l *listing) static(f *floor, w *syntax.Word) {
	var b strings.Builder
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			b.WriteString(literal(n.Value, false, false))
		case *syntax.SglQuoted:
			b.WriteString(unescapeQuoted(n.Value))
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
			return false
		}
		return true
	})
	l.assigned(b.String())
}

func (l *listing) declare(f *floor, n *syntax.DeclClause) {
	args := []string{n.Variant.Value}
	for _, a := range n.Args {
		word := ""
		if a.Name != nil {
			word = a.Name.Value
			if !a.Naked {
				word += "="
			}
		}
		if a.Value != nil {
			word += f.value(a.Value)
		}
		if a.Array != nil {
			word += unknown + "(…)" + closed
		}
		args = append(args, word)
	}
	l.add(f, args)
}

// globbing evaluates words that names of files may replace.
func (l *listing) globbing(words func() []string) []string {
	if l == nil {
		return words()
	}
	outer := l.globs
	l.globs = true
	defer func() { l.globs = outer }()
	return words()
}

// cut leaves the first of several texts for a part of a word, which are too many.
func (l *listing) cut(more []string, times int) []string {
	if l == nil || len(more) == 1 && times == 1 {
		return more[:1]
	}
	return []string{more[0] + unknown + "…" + closed}
}

// part marks a part of a word that is only known when the line runs.
func (l *listing) part(src string, p syntax.WordPart, quoted, start bool) (string, bool) {
	if l == nil {
		return "", false
	}
	switch p := p.(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return "", false
	case *syntax.BraceExp:
		return unknown + "{…}" + closed, p.Sequence
	case *syntax.Lit:
		if quoted {
			return "", false
		}
		text := literal(p.Value, false, false)
		if start && strings.HasPrefix(p.Value, "~") && !strings.Contains(p.Value, "/") || l.globs && l.glob(p.Value) {
			text = unknown + text + closed
		}
		return text, true
	}
	written := written(src, p)
	if quoted && !strings.ContainsAny(written, "@*") {
		return single + written + closed, true
	}
	return unknown + written + closed, true
}

// glob reports whether a word, or part of one, is a pattern for names of files.
func (l *listing) glob(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			return text != "["
		}
	}
	return false
}

// written is what stands in the line, shortened.
func written(src string, n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if from >= to || to > uint(len(src)) {
		return "…"
	}
	text := src[from:to]
	if len(text) > maxWritten {
		return strings.ToValidUTF8(text[:maxWritten], "") + "…"
	}
	return text
}
