package edit

import (
	"iter"
	"strings"
)

// DetectBOM tells the encoding that the first bytes of a file announce; UTF-8
// without a byte order mark when they announce none.
func DetectBOM(start []byte) (encoding string, bom bool) {
	head := string(start[:min(len(start), 4)])
	for _, m := range boms {
		if strings.HasPrefix(head, m.mark) {
			return m.encoding, true
		}
	}
	return UTF8, false
}

// EachLine yields the lines of s without their endings, as they are counted
// everywhere.
func EachLine(s string) iter.Seq[string] {
	sep := string(separator(s))
	return func(yield func(string) bool) {
		for s != "" {
			line, rest, _ := strings.Cut(s, sep)
			if !yield(strings.TrimSuffix(line, "\r")) {
				return
			}
			s = rest
		}
	}
}
