package pdf

import "bytes"

// repair makes the cross-reference table anew by looking for "12 0 obj" in the
// whole file, once. It says whether it did. A later object wins over an earlier
// one of the same number, as after an incremental update.
func (f *File) repair() bool {
	if f.repaired {
		return false
	}
	f.repaired = true
	f.xref = map[uint32]entry{}
	f.forget()
	var root any
	for pos := 0; ; {
		i := bytes.Index(f.data[pos:], []byte("obj"))
		if i < 0 {
			f.work.scan(len(f.data) - pos)
			break
		}
		f.work.scan(i)
		at := pos + i
		pos = at + len("obj")
		num, start, ok := objectHead(f.data, at)
		if !ok {
			continue
		}
		delete(f.xref, num)
		f.add(int64(num), entry{offset: int64(start)})
		root = f.lookAt(ref(num), f.data[pos:min(pos+400, len(f.data))], root)
	}
	f.repairTrailer(root)
	return true
}

// objectHead reads "12 0 " backwards from the word "obj".
func objectHead(data []byte, at int) (num uint32, start int, ok bool) {
	i := at
	spaces := func() bool {
		from := i
		for i > 0 && from-i < 10 && isSpace(data[i-1]) {
			i--
		}
		return i < from
	}
	digits := func() (n uint64, ok bool) {
		from := i
		for i > 0 && from-i < 10 && data[i-1] >= '0' && data[i-1] <= '9' {
			i--
		}
		for _, c := range data[i:from] {
			n = n*10 + uint64(c-'0')
		}
		return n, i < from
	}
	spaces()
	if _, ok := digits(); !ok || !spaces() {
		return 0, 0, false
	}
	n, ok := digits()
	return uint32(n), i, ok && n > 0 && n <= 1<<32-1
}

// lookAt looks at the beginning of an object for the two kinds that a repair
// needs: a catalog, and an object stream, whose objects get into the table.
func (f *File) lookAt(r ref, head []byte, root any) any {
	if end := bytes.Index(head, []byte("endobj")); end >= 0 {
		head = head[:end]
	}
	if bytes.Contains(head, []byte("/Catalog")) {
		return r
	}
	if !bytes.Contains(head, []byte("/ObjStm")) {
		return root
	}
	s := f.objStream(uint32(r))
	if s == nil {
		return root
	}
	for num, at := range s.offsets {
		f.work.step(1)
		if uint32(r) == num {
			continue
		}
		delete(f.xref, num)
		f.add(int64(num), entry{in: uint32(r)})
		if bytes.Contains(s.data[at:min(at+400, len(s.data))], []byte("/Catalog")) {
			if d := f.dict(ref(num)); d["Type"] == name("Catalog") {
				root = ref(num)
			}
		}
	}
	return root
}

// repairTrailer takes what trailers still say, and the catalog that was found.
func (f *File) repairTrailer(root any) {
	old := f.trailer
	f.trailer = dict{}
	for end := len(f.data); ; {
		i := bytes.LastIndex(f.data[:end], []byte("trailer"))
		f.work.scan(end - max(i, 0))
		if i < 0 {
			break
		}
		l := &lexer{src: f.data, pos: i + len("trailer"), work: f.work}
		if d, ok := l.object().(dict); ok {
			f.addTrailer(d)
		}
		end = i
	}
	f.addTrailer(old)
	if f.dict(f.trailer["Root"])["Pages"] == nil && root != nil {
		f.trailer["Root"] = root
	}
	f.forget()
}
