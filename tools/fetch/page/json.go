package page

import (
	"bytes"
	"encoding/json"
)

const (
	// maxJSONDepth is how deep JSON may be nested to be indented.
	maxJSONDepth = 100
	// maxIndented is how many times longer it may get by that, and maxIndentedBytes how
	// long: what stands before a line grows with the depth.
	maxIndented      = 16
	maxIndentedBytes = 48 << 20
)

// IndentJSON writes valid JSON with indent for each level. ok is false where it is no
// JSON, or would get too long by it.
func IndentJSON(raw []byte, indent string) (out []byte, fits bool, err error) {
	if !worthIndenting(raw, len(indent)) {
		return nil, false, nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", indent); err != nil {
		return nil, true, err
	}
	return b.Bytes(), true, nil
}

// worthIndenting tells without writing anything whether the text stays in its bounds.
func worthIndenting(raw []byte, indent int) bool {
	depth, size, quoted := 0, len(raw), false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxJSONDepth {
				return false
			}
			size += 1 + depth*indent
		case c == '}' || c == ']':
			depth = max(0, depth-1)
			size += 1 + depth*indent
		case c == ',':
			size += 1 + depth*indent
		}
	}
	return size <= maxIndentedBytes && size <= maxIndented*len(raw)+4096
}
