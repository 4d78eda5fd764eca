package server

import (
	"bytes"
	"slices"
)

// fewNames is up to where the names of an object are compared one by one.
const fewNames = 16

// A span is where a name stands in a message, which is shorter than 4 GiB: many
// names must not take many times the memory of the message.
type span struct{ start, end uint32 }

// repeatsMember says whether an object in text, which is valid JSON, names a
// member twice. Of two values with one name another reader may take the other:
// what a proxy has checked would not be what is done.
//
// It reads text once, whatever its depth.
func repeatsMember(text []byte) bool {
	var open [][]span // the names so far of each object and array not yet closed
	for i := 0; i < len(text); {
		switch text[i] {
		case '{', '[':
			open = append(open, nil)
			i++
		case '}', ']':
			names := open[len(open)-1]
			open = open[:len(open)-1]
			if repeats(text, names) {
				return true
			}
			i++
		case '"':
			end := skipValue(text, i)
			next := skipSpace(text, end)
			if next < len(text) && text[next] == ':' { // so it is a name
				open[len(open)-1] = append(open[len(open)-1], span{uint32(i), uint32(end)})
			}
			i = end
		default:
			i++
		}
	}
	return false
}

// repeats says whether two of the names in text are the same, and sorts them.
func repeats(text []byte, names []span) bool {
	same := func(a, b span) bool { return compareNames(text, a, b) == 0 }
	if len(names) <= fewNames {
		for i, name := range names {
			if slices.ContainsFunc(names[:i], func(other span) bool { return same(name, other) }) {
				return true
			}
		}
		return false
	}
	slices.SortFunc(names, func(a, b span) int { return compareNames(text, a, b) })
	for i := range names[1:] {
		if same(names[i], names[i+1]) {
			return true
		}
	}
	return false
}

// compareNames compares what two quoted names mean, however they are written.
func compareNames(text []byte, a, b span) int {
	return bytes.Compare(meaning(text[a.start:a.end]), meaning(text[b.start:b.end]))
}

func meaning(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	s, _ := unquote(quoted)
	return []byte(s)
}
