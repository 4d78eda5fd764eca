package pdf

import "math"

// matrix maps (x, y) to (a*x + c*y + e, b*x + d*y + f).
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// then gives the matrix that does m first, and n after it.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

func (m matrix) moved(x, y float64) matrix {
	return matrix{a: 1, d: 1, e: x, f: y}.then(m)
}

func (f *File) matrix(v any) matrix {
	list := f.array(v)
	if len(list) != 6 {
		return identity
	}
	var n [6]float64
	for i := range n {
		n[i] = f.num(list[i])
	}
	return matrix{n[0], n[1], n[2], n[3], n[4], n[5]}
}

func operandMatrix(v []any) matrix {
	if len(v) < 6 {
		return identity
	}
	return matrix{num(v[0]), num(v[1]), num(v[2]), num(v[3]), num(v[4]), num(v[5])}
}

// across is how long a step of 1 up is, after m: the scale of a font's size.
func (m matrix) across() float64 { return math.Hypot(m.c, m.d) }
