package pdf

import (
	"slices"
	"strings"
	"unicode/utf16"
)

// maxMappings is how many codes one map may have: more than all of two bytes.
const maxMappings = 70_000

// cmap maps character codes to Unicode, or only tells how long codes are.
type cmap struct {
	lengths [5][]codeRange // code space, by bytes of a code
	chars   map[code]string
	ranges  []mapRange // sorted by length and lo
}

type code struct {
	n     int // bytes
	value uint32
}

type codeRange struct{ lo, hi uint32 }

type mapRange struct {
	length int
	lo, hi uint32
	to     string // UTF-16BE, of lo; its last unit counts up
}

func codeOf(s string) code {
	if len(s) > 4 {
		s = s[len(s)-4:]
	}
	return code{len(s), uint32(bigEndian([]byte(s)))}
}

func utf16Text(s string) string {
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	if len(s) == 1 {
		units = append(units, uint16(s[0]))
	}
	return string(utf16.Decode(units))
}

// readCMap reads the operators of a map and none of the PostScript around them.
func (f *File) readCMap(data []byte) *cmap {
	m := &cmap{chars: map[code]string{}}
	l := &lexer{src: data, work: f.work, noRefs: true}
	var operands []any
	for {
		l.elements = 0
		v := l.object()
		word, ok := v.(keyword)
		if !ok {
			if len(operands) < 3*maxMappings {
				operands = append(operands, v)
			}
			continue
		}
		switch word {
		case eof:
			m.sort()
			return m
		case "endcodespacerange":
			m.addSpace(operands)
		case "endbfchar":
			m.addChars(operands)
		case "endbfrange":
			m.addRanges(operands)
		}
		operands = operands[:0]
	}
}

func (m *cmap) addSpace(operands []any) {
	for i := 0; i+1 < len(operands); i += 2 {
		lo, ok1 := operands[i].(string)
		hi, ok2 := operands[i+1].(string)
		if n := len(lo); ok1 && ok2 && n > 0 && n < len(m.lengths) && n == len(hi) && len(m.lengths[n]) < 100 {
			m.lengths[n] = append(m.lengths[n], codeRange{codeOf(lo).value, codeOf(hi).value})
		}
	}
}

func (m *cmap) addChars(operands []any) {
	for i := 0; i+1 < len(operands); i += 2 {
		from, ok1 := operands[i].(string)
		to, ok2 := operands[i+1].(string)
		if ok1 && ok2 {
			m.addChar(codeOf(from), to)
		}
	}
}

func (m *cmap) addChar(from code, to string) {
	if len(m.chars) < maxMappings && len(to) <= 64 {
		m.chars[from] = utf16Text(to)
	}
}

func (m *cmap) addRanges(operands []any) {
	for i := 0; i+2 < len(operands); i += 3 {
		first, ok1 := operands[i].(string)
		last, ok2 := operands[i+1].(string)
		lo, hi := codeOf(first), codeOf(last)
		if !ok1 || !ok2 || lo.n != hi.n || hi.value < lo.value {
			continue
		}
		switch to := operands[i+2].(type) {
		case string:
			if len(m.ranges) < maxMappings && len(to) <= 64 {
				m.ranges = append(m.ranges, mapRange{lo.n, lo.value, hi.value, to})
			}
		case array:
			for k, v := range to[:min(int64(len(to)), int64(hi.value-lo.value)+1)] {
				if s, ok := v.(string); ok {
					m.addChar(code{lo.n, lo.value + uint32(k)}, s)
				}
			}
		}
	}
}

func (m *cmap) sort() {
	slices.SortStableFunc(m.ranges, func(a, b mapRange) int {
		if a.length != b.length {
			return a.length - b.length
		}
		return int(int64(a.lo) - int64(b.lo))
	})
}

func (m *cmap) size() int { return len(m.chars) + len(m.ranges) }

// next takes the first code from s, which is not empty. What is in no code
// space is taken as one of two bytes, or of one if the map has only such.
func (m *cmap) next(s string) code {
	for n := 1; n < len(m.lengths) && n <= len(s); n++ {
		c := codeOf(s[:n])
		for _, r := range m.lengths[n] {
			if r.lo <= c.value && c.value <= r.hi {
				return c
			}
		}
	}
	n := 2
	if len(m.lengths[1]) > 0 && len(m.lengths[2]) == 0 {
		n = 1
	}
	return codeOf(s[:min(n, len(s))])
}

func (m *cmap) unicode(c code) (string, bool) {
	if s, ok := m.chars[c]; ok {
		return s, true
	}
	i, found := slices.BinarySearchFunc(m.ranges, c, func(r mapRange, c code) int {
		if r.length != c.n {
			return r.length - c.n
		}
		return int(int64(r.lo) - int64(c.value))
	})
	if !found {
		i-- // the last range that begins before c
	}
	if i < 0 || m.ranges[i].length != c.n || c.value > m.ranges[i].hi {
		return "", false
	}
	return m.ranges[i].at(c.value), true
}

func (r mapRange) at(value uint32) string {
	to := r.to
	if len(to) == 1 {
		to = "\x00" + to
	}
	if len(to) < 2 {
		return ""
	}
	unit := uint16(to[len(to)-2])<<8 | uint16(to[len(to)-1])
	unit += uint16(value - r.lo)
	return utf16Text(to[:len(to)-2] + string([]byte{byte(unit >> 8), byte(unit)}))
}

// readable says that a mapping is of use: some writers map to NUL, or to
// nothing.
func readable(s string) bool {
	return s != "" && strings.Trim(s, "\x00\ufffd") != ""
}
