package sandbox

import "strings"

// scan looks at a line that is no valid bash: part of it may run all the same,
// or another shell may take it. Words are cut roughly, so that quotes do not
// protect what stands in them.
func (f *floor) scan(line string) {
	if strings.Contains(strings.Join(strings.Fields(line), ""), ":(){:|:&};:") {
		f.deny("%s", forkBomb)
		return
	}
	parts := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";|&\n(){}`", r) })
	for _, part := range parts {
		var words []string
		for _, w := range strings.Fields(part) {
			w = strings.NewReplacer(`'`, "", `"`, "", `\`, "", "$HOME", home).Replace(w)
			if strings.HasPrefix(w, "~") {
				w = home + w[1:]
			}
			if w != "" {
				words = append(words, w)
			}
		}
		for len(words) > 0 && assigns(words[0]) {
			words = words[1:]
		}
		f.scanDevices(words)
		f.command(words, "")
	}
}

func (f *floor) scanDevices(words []string) {
	for i, w := range words {
		_, target, ok := strings.Cut(w, ">")
		target = strings.TrimLeft(target, ">|&")
		if ok && target == "" && i+1 < len(words) {
			target = words[i+1]
		}
		if ok && isDevice(target) {
			f.deny("writing to %s destroys what is on it", target)
		}
	}
}

// assigns reports whether a word is an assignment before a command.
func assigns(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
