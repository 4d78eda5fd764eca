package server

import "slices"

// fewNames is up to where the names of an object are compared one by one.
const fewNames = 16

// repeatsMember says whether an object in text, which is valid JSON, names a
// member twice. Of two values with one name another reader may take the other:
// what a proxy has checked would not be what is done.
//
// It reads text once, whatever its depth, and holds the names of open objects.
func repeatsMember(text []byte) bool {
	var open [][]string // the names so far of each object and array not yet closed
	for i := 0; i < len(text); {
		switch text[i] {
		case '{', '[':
			open = append(open, nil)
			i++
		case '}', ']':
			names := open[len(open)-1]
			open = open[:len(open)-1]
			if repeats(names) {
				return true
			}
			i++
		case '"':
			end := skipValue(text, i)
			next := skipSpace(text, end)
			if next < len(text) && text[next] == ':' { // so it is a name
				name, _ := unquote(text[i:end])
				open[len(open)-1] = append(open[len(open)-1], name)
			}
			i = end
		default:
			i++
		}
	}
	return false
}

// repeats sorts names.
func repeats(names []string) bool {
	if len(names) <= fewNames {
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				return true
			}
		}
		return false
	}
	n := len(names)
	slices.Sort(names)
	return len(slices.Compact(names)) < n
}
