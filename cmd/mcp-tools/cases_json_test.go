package main

import (
	"bytes"
	"encoding/json"
	"regexp"
)

var surrogateEscape = regexp.MustCompile(`\\+u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// loneSurrogate finds a \uD8xx escape without its other half, which decoding
// would hide.
func loneSurrogate(line []byte) bool {
	high := -1 // end of the last high half
	for _, at := range surrogateEscape.FindAllIndex(line, -1) {
		esc := line[at[0]:at[1]]
		if (len(esc)-5)%2 == 0 {
			continue // the backslash is itself escaped
		}
		start := at[1] - 6
		isLow := bytes.IndexByte([]byte("cdefCDEF"), line[start+3]) >= 0
		switch {
		case isLow && high != start, !isLow && high >= 0:
			return true
		case isLow:
			high = -1
		default:
			high = at[1]
		}
	}
	return high >= 0
}

func unmarshal(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return dec.Decode(v)
}

// compact is x as JSON without the escapes that only HTML needs.
func compact(x any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		panic(err) // what was decoded, or written down here, can be encoded
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// dig follows keys and indexes into decoded JSON; nil when there is nothing.
func dig(x any, path ...any) any {
	for _, k := range path {
		if n, ok := k.(json.Number); ok {
			i, _ := n.Int64()
			k = int(i)
		}
		switch k := k.(type) {
		case string:
			m, _ := x.(map[string]any)
			x = m[k]
		case int:
			list, _ := x.([]any)
			if k < 0 {
				k += len(list)
			}
			if k < 0 || k >= len(list) {
				return nil
			}
			x = list[k]
		}
	}
	return x
}

// agreeing fills a form in: the first choice, yes, 1.
func agreeing(schema any) map[string]any {
	out := map[string]any{}
	props, _ := dig(schema, "properties").(map[string]any)
	for name, p := range props {
		switch {
		case dig(p, "enum", 0) != nil:
			out[name] = dig(p, "enum", 0)
		case dig(p, "oneOf", 0, "const") != nil:
			out[name] = dig(p, "oneOf", 0, "const")
		case dig(p, "type") == "boolean":
			out[name] = true
		case dig(p, "type") == "integer" || dig(p, "type") == "number":
			out[name] = 1
		case dig(p, "type") == "array":
			out[name] = []any{}
		default:
			out[name] = "yes"
		}
	}
	return out
}
