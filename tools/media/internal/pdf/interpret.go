package pdf

import "bytes"

const (
	maxForms    = 12  // form XObjects in each other
	maxStates   = 500 // saved graphics states
	maxOperands = 200
)

// textState is what operators set for the strings after them.
type textState struct {
	ctm                 matrix
	font                *font
	size, leading, rise float64
	charSpace, word     float64
	stretch             float64 // horizontal scaling, 1 is none
}

// interpreter draws a page into a layout.
type interpreter struct {
	file   *File
	out    layout
	state  textState
	saved  []textState
	tm, lm matrix // of the text, and of its line
	forms  int    // how deep in forms
	found  Page
}

// run interprets one content stream.
func (in *interpreter) run(data []byte, resources dict) {
	l := &lexer{src: data, work: in.file.work, noRefs: true}
	operands := make([]any, 0, maxOperands)
	for !in.out.cut {
		l.elements = 0
		v := l.object()
		op, ok := v.(keyword)
		switch {
		case op == eof && ok:
			return
		case !ok:
			if len(operands) < maxOperands {
				operands = append(operands, v)
			}
			continue
		case op == "BI":
			in.found.Picture = true
			skipInline(l)
		case op == "Do":
			in.do(operands, resources)
		default:
			in.operator(op, operands, resources)
		}
		operands = operands[:0]
	}
}

// skipInline passes over an inline picture: to an EI between white space after
// which no binary data follows.
func skipInline(l *lexer) {
	for tok := l.token(); tok != keyword("ID"); tok = l.token() {
		if tok == eof {
			return
		}
	}
	for {
		i := bytes.Index(l.src[l.pos:], []byte("EI"))
		if i < 0 {
			l.pos = len(l.src)
			return
		}
		l.work.scan(i)
		at := l.pos + i
		l.pos = at + 2
		if isSpace(l.src[at-1]) && isSpace(l.peek()) && isText(l.src[l.pos:min(l.pos+12, len(l.src))]) {
			return
		}
	}
}

func isText(b []byte) bool {
	for _, c := range b {
		if c >= 0x7f || c < ' ' && !isSpace(c) {
			return false
		}
	}
	return true
}

// do draws an external object: a form is content, too.
func (in *interpreter) do(operands []any, resources dict) {
	if len(operands) == 0 {
		return
	}
	key, _ := operands[0].(name)
	s, ok := in.file.resolve(in.file.dict(resources["XObject"])[key]).(stream)
	if !ok {
		return
	}
	if in.file.name(s.dict["Subtype"]) != "Form" {
		in.found.Picture = true
		return
	}
	in.form(s, resources)
}

func (in *interpreter) form(s stream, resources dict) {
	in.file.work.step(20)
	if in.forms >= maxForms {
		return
	}
	data, err := in.file.decode(s)
	if err != nil {
		return
	}
	if own := in.file.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	state, saved, tm, lm := in.state, in.saved, in.tm, in.lm
	in.forms++
	in.saved = nil
	in.state.ctm = in.file.matrix(s.dict["Matrix"]).then(in.state.ctm)
	in.run(data, resources)
	in.state, in.saved, in.tm, in.lm = state, saved, tm, lm
	in.forms--
}

func (in *interpreter) operator(op keyword, v []any, resources dict) {
	switch op {
	case "q":
		if len(in.saved) < maxStates {
			in.saved = append(in.saved, in.state)
		}
	case "Q":
		if n := len(in.saved); n > 0 {
			in.state, in.saved = in.saved[n-1], in.saved[:n-1]
		}
	case "cm":
		in.state.ctm = operandMatrix(v).then(in.state.ctm)
	case "BT":
		in.tm, in.lm = identity, identity
	case "T*", "Td", "TD", "Tm":
		in.position(op, v)
	case "Tj", "'", "\"", "TJ":
		in.showOperator(op, v)
	default:
		in.setting(op, v, resources)
	}
}

func (in *interpreter) position(op keyword, v []any) {
	switch {
	case op == "T*":
		in.lm = in.lm.moved(0, -in.state.leading)
	case op == "Tm" && len(v) >= 6:
		in.lm = operandMatrix(v)
	case len(v) >= 2:
		if op == "TD" {
			in.state.leading = -num(v[1])
		}
		in.lm = in.lm.moved(num(v[0]), num(v[1]))
	}
	in.tm = in.lm
}

func (in *interpreter) setting(op keyword, v []any, resources dict) {
	if len(v) == 0 {
		return
	}
	switch n := num(v[0]); op {
	case "Tc":
		in.state.charSpace = n
	case "Tw":
		in.state.word = n
	case "Tz":
		in.state.stretch = n / 100
	case "TL":
		in.state.leading = n
	case "Ts":
		in.state.rise = n
	case "Tf":
		key, _ := v[0].(name)
		in.state.font = in.file.font(in.file.dict(resources["Font"])[key])
		if len(v) > 1 {
			in.state.size = num(v[1])
		}
	}
}

func (in *interpreter) showOperator(op keyword, v []any) {
	if op == "'" || op == "\"" {
		if op == "\"" && len(v) >= 3 {
			in.state.word, in.state.charSpace = num(v[0]), num(v[1])
		}
		in.position("T*", nil)
	}
	if len(v) == 0 {
		return
	}
	parts, ok := v[len(v)-1].(array)
	if !ok {
		parts = v[len(v)-1:]
	}
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			in.show(part)
		case int64, float64:
			in.tm = in.tm.moved(-num(part)/1000*in.state.size*in.state.stretch, 0)
		}
	}
}

// show writes one string, and moves behind it.
func (in *interpreter) show(s string) {
	st := &in.state
	if st.font == nil {
		st.font = in.file.makeFont(nil)
	}
	skip := in.out.repeated(s, in.place(0))
	for s != "" && !in.out.cut {
		in.file.work.step(1)
		var g glyph
		g, s = st.font.next(s)
		advance := g.width*st.size + st.charSpace
		if g.space {
			advance += st.word
		}
		advance *= st.stretch
		in.found.Glyphs++
		if g.text == "" {
			in.found.Unknown++
			g.text = "\ufffd"
		}
		if !skip {
			in.out.glyph(g.text, in.place(advance))
		}
		in.tm = in.tm.moved(advance, 0)
	}
}

// place gives where the next glyph is on the page.
func (in *interpreter) place(advance float64) place {
	m := in.tm.moved(0, in.state.rise).then(in.state.ctm)
	end := m.moved(advance, 0)
	size := in.state.size * m.across()
	if size < 0 {
		size = -size
	}
	return place{m.e, m.f, end.e, end.f, size}
}
