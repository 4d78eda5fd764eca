package pdf

import (
	"bytes"
	"context"
	"fmt"
)

const (
	maxObjects    = 1_000_000 // in a file
	maxResolving  = 40        // objects that need each other to be read, as a stream and its length
	maxCached     = 1_000_000 // elements of the objects that are kept
	maxObjStreams = 32 << 20  // bytes of the decoded object streams that are kept
)

// entry says where an object is: at an offset of the file, or in an object
// stream.
type entry struct {
	offset int64  // -1: the object is free
	in     uint32 // the number of the object stream, if not 0
}

// File is an open PDF. It is for one goroutine at a time.
type File struct {
	data       []byte
	work       *work
	xref       map[uint32]entry
	trailer    dict
	repaired   bool
	resolving  map[ref]bool
	objects    map[ref]any
	cached     int // elements in objects
	objStreams map[uint32]*objStream
	decoded    int // bytes in objStreams
	fonts      map[ref]*font
	pages      []page
}

// Open reads the structure of a file, of which it keeps data. The context goes
// for all that is done with the File later, too. The error is ErrEncrypted,
// ErrBroken, ErrTooMuch, perhaps with more words, or the cause of the context.
func Open(ctx context.Context, data []byte) (*File, error) {
	return open(&work{ctx: ctx, most: maxSteps}, data)
}

func open(w *work, data []byte) (f *File, err error) {
	defer guard(&err)
	if i := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-")); i > 0 {
		data = data[i:] // offsets count from the header
	}
	f = &File{data: data, work: w, resolving: map[ref]bool{}, fonts: map[ref]*font{}}
	f.forget()
	f.work.step(checkEvery) // looks at the context first
	f.readXrefs()
	if f.trailer["Encrypt"] == nil {
		f.readPages()
	}
	if len(f.pages) == 0 && f.repair() && f.trailer["Encrypt"] == nil {
		f.readPages()
	}
	if f.trailer["Encrypt"] != nil {
		return nil, ErrEncrypted
	}
	if len(f.pages) == 0 {
		return nil, fmt.Errorf("%w (no page is found in it)", ErrBroken)
	}
	return f, nil
}

// forget drops what was made of the file under an older cross-reference table.
func (f *File) forget() {
	f.objects, f.cached = map[ref]any{}, 0
	f.objStreams, f.decoded = map[uint32]*objStream{}, 0
}

// resolve follows references. What is missing, broken or refers to itself is
// nil.
func (f *File) resolve(v any) any {
	for range maxResolving {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = f.load(r)
	}
	return nil
}

func (f *File) load(r ref) any {
	if v, ok := f.objects[r]; ok {
		return v
	}
	f.work.step(1)
	if f.resolving[r] || len(f.resolving) >= maxResolving {
		return nil
	}
	f.resolving[r] = true
	defer delete(f.resolving, r)
	v, elements, ok := f.read(uint32(r))
	if !ok && f.repair() {
		v, elements, ok = f.read(uint32(r))
	}
	if !ok {
		v = nil
	}
	if f.cached += elements + 4; f.cached > maxCached {
		f.objects, f.cached = map[ref]any{}, elements
	}
	f.objects[r] = v
	return v
}

// read gives false for an object that is not where the table says. That an
// object is not in the table, or free, is no fault: it is null.
func (f *File) read(num uint32) (v any, elements int, ok bool) {
	e, ok := f.xref[num]
	switch {
	case !ok || e.offset < 0: // free
		return nil, 0, true
	case e.in != 0:
		return f.readCompressed(num, e.in)
	}
	got, v, elements := f.readIndirect(e.offset)
	return v, elements, got == int64(num)
}

// readIndirect reads "12 0 obj …" at an offset. The number is -1 if there is
// none.
func (f *File) readIndirect(offset int64) (num int64, v any, elements int) {
	if offset < 0 || offset >= int64(len(f.data)) {
		return -1, nil, 0
	}
	l := &lexer{src: f.data, pos: int(offset), work: f.work}
	num, ok1 := l.token().(int64)
	_, ok2 := l.token().(int64)
	if !ok1 || !ok2 || l.token() != keyword("obj") {
		return -1, nil, 0
	}
	v = l.object()
	if _, ok := v.(keyword); ok {
		return num, nil, 0
	}
	if d, ok := v.(dict); ok {
		back := l.pos
		if l.pos > 6 && bytes.HasSuffix(l.src[:l.pos], []byte("stream")) || l.token() == keyword("stream") {
			return num, stream{d, f.streamBytes(l, d)}, l.elements
		}
		l.pos = back
	}
	return num, v, l.elements
}

// streamBytes finds the raw bytes of a stream. Length is only believed if the
// stream ends there.
func (f *File) streamBytes(l *lexer, d dict) []byte {
	if l.peek() == '\r' {
		l.pos++
	}
	if l.peek() == '\n' {
		l.pos++
	}
	start := min(l.pos, len(f.data))
	rest := f.data[start:]
	if n := f.int(d["Length"]); n > 0 && n <= int64(len(rest)) {
		after := bytes.TrimLeft(rest[n:min(n+20, int64(len(rest)))], "\r\n\t ")
		if bytes.HasPrefix(after, []byte("endstream")) || bytes.HasPrefix(after, []byte("endobj")) {
			return rest[:n]
		}
	}
	end := bytes.Index(rest, []byte("endstream"))
	if end < 0 {
		end = len(rest)
	}
	f.work.scan(end)
	return rest[:end]
}

// objStream is a decoded object stream.
type objStream struct {
	data    []byte
	offsets map[uint32]int
}

func (f *File) readCompressed(num, in uint32) (any, int, bool) {
	s := f.objStream(in)
	if s == nil {
		return nil, 0, false
	}
	offset, ok := s.offsets[num]
	if !ok {
		return nil, 0, false
	}
	l := &lexer{src: s.data, pos: offset, work: f.work}
	v := l.object()
	if _, ok := v.(keyword); ok {
		v = nil
	}
	return v, l.elements, true
}

func (f *File) objStream(num uint32) *objStream {
	if s, ok := f.objStreams[num]; ok {
		return s
	}
	var s *objStream
	if strm, ok := f.load(ref(num)).(stream); ok {
		s = f.openObjStream(strm)
	}
	if s != nil {
		f.decoded += len(s.data) + 24*len(s.offsets)
	}
	if f.decoded > maxObjStreams {
		f.objStreams, f.decoded = map[uint32]*objStream{}, 0
	}
	f.objStreams[num] = s
	return s
}

func (f *File) openObjStream(strm stream) *objStream {
	data, err := f.decode(strm)
	if err != nil {
		return nil
	}
	s := &objStream{data: data, offsets: map[uint32]int{}}
	first, n := f.int(strm.dict["First"]), f.int(strm.dict["N"])
	l := &lexer{src: data, work: f.work}
	for range min(n, maxObjects) {
		num, ok1 := l.token().(int64)
		offset, ok2 := l.token().(int64)
		if !ok1 || !ok2 {
			break
		}
		if at := first + offset; num > 0 && num <= 1<<32-1 && at >= 0 && at < int64(len(data)) {
			s.offsets[uint32(num)] = int(at)
		}
	}
	return s
}
