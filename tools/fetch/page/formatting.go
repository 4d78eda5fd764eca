package page

import "bytes"

// HTML wants elements such as <b> that were not closed to be opened again, with all
// their attributes, at whatever comes next. A page of some KB could so become a tree of
// GB: what it would become is estimated before it is built.

const (
	// maxReopened is how many elements and attributes may be made that way beside some
	// for each element of the page.
	maxReopened = 500_000
	perElement  = 8
	// maxAlike is how many elements alike are opened again (HTML, Noah's Ark clause).
	maxAlike = 3
)

// formatting are the elements that are opened again.
var formatting = map[string]bool{"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true, "s": true, "small": true, "strike": true, "strong": true, "tt": true, "u": true}

// multiplies tells whether the tree of a page would be many times as large as the page.
func multiplies(source []byte) bool {
	type open struct {
		name, tag string
		weight    int
	}
	var opened []open
	alike := map[string]int{}
	sum, cost, tags := 0, 0, 0
	for {
		i := bytes.IndexByte(source, '<')
		if i < 0 || i+1 >= len(source) {
			return false
		}
		source = source[i+1:]
		closing := source[0] == '/'
		if closing {
			source = source[1:]
		}
		name := tagName(source)
		if name == "" {
			continue
		}
		if !closing {
			tags++
			if cost += sum; cost > maxReopened+perElement*tags {
				return true
			}
		}
		if !formatting[name] {
			continue
		}
		if closing {
			for k := len(opened) - 1; k >= 0; k-- {
				if opened[k].name == name {
					sum -= opened[k].weight
					alike[opened[k].tag]--
					opened = append(opened[:k], opened[k+1:]...)
					break
				}
			}
			continue
		}
		end := bytes.IndexByte(source, '>')
		if end < 0 {
			return false
		}
		tag := string(source[:min(end, 1<<10)])
		if alike[tag] >= maxAlike {
			continue
		}
		alike[tag]++
		weight := 1 + bytes.Count(source[:end], []byte(" "))
		opened, sum = append(opened, open{name, tag, weight}), sum+weight
	}
}

// tagName is the name that a tag begins with, in lower case, "" if it is none of the
// length of a formatting element's.
func tagName(s []byte) string {
	var b [8]byte
	for i, c := range s {
		switch {
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' && i > 0:
		default:
			return string(b[:min(i, len(b))])
		}
		if i < len(b) {
			b[i] = c
		}
	}
	return ""
}
