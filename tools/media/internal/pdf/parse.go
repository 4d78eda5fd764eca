package pdf

// object reads one object; a keyword that is none comes back as it is.
func (l *lexer) object() any { return l.objectAt(0) }

// objectAt passes over the rest of an object that has more in it than any file
// needs: no file takes a multiple of its size in memory, or a deep stack.
func (l *lexer) objectAt(depth int) any {
	if depth > maxDepth || l.elements > maxElements {
		l.pos = len(l.src)
		return eof
	}
	tok := l.token()
	l.elements++
	if s, ok := tok.(string); ok {
		l.elements += len(s) / 64
	}
	switch tok {
	case keyword("null"):
		return nil
	case keyword("<<"):
		return l.dict(depth + 1)
	case keyword("["):
		return l.array(depth + 1)
	}
	if n, ok := tok.(int64); ok && !l.noRefs && n >= 0 && n <= 1<<32-1 {
		return l.maybeRef(n)
	}
	return tok
}

// maybeRef: "12 0 R" is a reference, "12" alone a number.
func (l *lexer) maybeRef(n int64) any {
	back := l.pos
	l.skipSpace()
	if c := l.peek(); c >= '0' && c <= '9' {
		if _, ok := l.token().(int64); ok && l.token() == keyword("R") {
			return ref(n)
		}
	}
	l.pos = back
	return n
}

func (l *lexer) array(depth int) array {
	var a array
	for {
		v := l.objectAt(depth)
		switch v {
		case keyword("]"), eof, keyword("endobj"), keyword(">>"):
			return a
		}
		if _, ok := v.(keyword); !ok {
			a = append(a, v)
		}
	}
}

func (l *lexer) dict(depth int) dict {
	d := dict{}
	for {
		key := l.token()
		switch key {
		case keyword(">>"), eof, keyword("endobj"), keyword("stream"):
			return d
		}
		k, ok := key.(name)
		if !ok {
			continue
		}
		back := l.pos
		v := l.objectAt(depth)
		if v == keyword(">>") || v == keyword("endobj") {
			l.pos = back // the key has no value
			continue
		}
		if _, ok := v.(keyword); !ok {
			d[k] = v
		}
	}
}
