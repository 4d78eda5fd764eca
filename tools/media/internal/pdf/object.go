package pdf

// A PDF value is one of nil, bool, int64, float64, string, name, dict, array,
// ref or stream; in content streams also keyword.
type (
	name    string
	keyword string
	dict    map[name]any
	array   []any
	ref     uint32 // the number of an indirect object; generations are not told apart
	stream  struct {
		dict dict
		raw  []byte // part of the file, or of a decoded object stream; never written to
	}
)

// eof is the token after the last.
const eof = keyword("\x00eof")

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func num(v any) float64 {
	n, _ := number(v)
	return n
}

func integer(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		if v > -1e15 && v < 1e15 {
			return int64(v)
		}
	}
	return 0
}

func (f *File) dict(v any) dict {
	switch v := f.resolve(v).(type) {
	case dict:
		return v
	case stream:
		return v.dict
	}
	return nil
}

func (f *File) array(v any) array {
	a, _ := f.resolve(v).(array)
	return a
}

func (f *File) name(v any) name {
	n, _ := f.resolve(v).(name)
	return n
}

func (f *File) int(v any) int64 { return integer(f.resolve(v)) }

func (f *File) num(v any) float64 { return num(f.resolve(v)) }
