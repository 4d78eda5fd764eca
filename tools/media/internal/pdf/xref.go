package pdf

import "bytes"

// readXrefs reads the cross-reference sections from the newest to the oldest.
// What is missing or wrong is found by a repair later.
func (f *File) readXrefs() {
	f.xref, f.trailer = map[uint32]entry{}, dict{}
	i := bytes.LastIndex(f.data, []byte("startxref"))
	f.work.scan(len(f.data) - max(i, 0))
	if i < 0 {
		return
	}
	l := &lexer{src: f.data, pos: i + len("startxref"), work: f.work}
	offset, ok := l.token().(int64)
	seen := map[int64]bool{}
	for ok && offset > 0 && offset < int64(len(f.data)) && !seen[offset] {
		seen[offset] = true
		d := f.readXref(offset)
		if hybrid, isInt := d["XRefStm"].(int64); isInt && !seen[hybrid] {
			seen[hybrid] = true
			f.readXref(hybrid)
		}
		offset, ok = d["Prev"].(int64)
	}
}

// readXref reads one section, a table or a stream, and gives its trailer.
func (f *File) readXref(offset int64) dict {
	if offset < 0 || offset >= int64(len(f.data)) {
		return nil
	}
	l := &lexer{src: f.data, pos: int(offset), work: f.work}
	if l.token() == keyword("xref") {
		return f.readXrefTable(l)
	}
	_, v, _ := f.readIndirect(offset)
	s, ok := v.(stream)
	if !ok || s.dict["Type"] != name("XRef") {
		return nil
	}
	f.addTrailer(s.dict)
	f.readXrefStream(s)
	return s.dict
}

// addTrailer: the newest trailer comes first, and wins.
func (f *File) addTrailer(d dict) {
	for _, key := range []name{"Root", "Encrypt"} {
		if _, ok := f.trailer[key]; !ok && d[key] != nil {
			f.trailer[key] = d[key]
		}
	}
}

// add notes where an object is, unless a newer section did. Free entries are
// noted too: they hide older ones.
func (f *File) add(num int64, e entry) {
	if num < 0 || num > 1<<32-1 {
		return
	}
	if _, ok := f.xref[uint32(num)]; ok {
		return
	}
	if len(f.xref) >= maxObjects {
		panic(stop{ErrTooMuch})
	}
	f.xref[uint32(num)] = e
}

func (f *File) readXrefTable(l *lexer) dict {
	for {
		first := l.token()
		if first == keyword("trailer") {
			d, _ := l.object().(dict)
			f.addTrailer(d)
			return d
		}
		start, ok1 := first.(int64)
		n, ok2 := l.token().(int64)
		if !ok1 || !ok2 {
			return nil
		}
		for i := range n {
			offset, ok := l.token().(int64)
			l.token()
			kind, isWord := l.token().(keyword)
			if !ok || !isWord || kind != "n" && kind != "f" {
				return nil
			}
			if kind == "f" {
				offset = -1
			}
			f.add(start+i, entry{offset: offset})
		}
	}
}

func (f *File) readXrefStream(s stream) {
	data, err := f.decode(s)
	widths, _ := s.dict["W"].(array)
	if err != nil || len(widths) < 3 {
		return
	}
	var w [3]int
	for i := range w {
		n, _ := widths[i].(int64)
		if n < 0 || n > 8 {
			return
		}
		w[i] = int(n)
	}
	row := w[0] + w[1] + w[2]
	index, ok := s.dict["Index"].(array)
	if !ok {
		index = array{int64(0), int64(len(data))}
	}
	for i := 0; i+1 < len(index); i += 2 {
		start, n := integer(index[i]), integer(index[i+1])
		for k := int64(0); k < n && row > 0 && len(data) >= row; k++ {
			f.work.step(1)
			f.addRow(start+k, data[:row], w)
			data = data[row:]
		}
	}
}

func (f *File) addRow(num int64, row []byte, w [3]int) {
	kind := uint64(1)
	if w[0] > 0 {
		kind = bigEndian(row[:w[0]])
	}
	where := bigEndian(row[w[0] : w[0]+w[1]])
	switch kind {
	case 1:
		f.add(num, entry{offset: int64(where)})
	case 2:
		if where > 0 && where <= 1<<32-1 {
			f.add(num, entry{in: uint32(where)})
		}
	default:
		f.add(num, entry{offset: -1})
	}
}

func bigEndian(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}
