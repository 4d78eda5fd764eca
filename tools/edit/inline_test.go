package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInlineDiff(t *testing.T) {
	for _, c := range []struct{ why, was, is, want string }{
		{"a word", "const x = 1;", "const x = 2;", "const x = {-1-}{+2+};"},
		{"a word more in the file", "return a, nil", "return a, b, nil", "return a{+, b+}, nil"},
		{"a word more in old_string", "if ok && x {", "if ok {", "if ok{- && x-} {"},
		{"blanks", "f( x )", "f(x)", "f({- -}x{- -})"},
		{"a letter with its mark is one", "le café noir", "le café vert", "le café {-noir-}{+vert+}"},
		{"the same", "same", "same", "same"},
		{"hardly anything in common", "alpha beta gamma", "x = y + z", ""},
		{"too long", strings.Repeat("a ", 300), "a", ""},
	} {
		assert.Equal(t, c.want, inlineDiff(c.was, c.is), c.why)
	}
}

// FuzzInlineDiff: taking the marks away gives both lines back.
func FuzzInlineDiff(f *testing.F) {
	f.Add("const x = 1;", "const x = 2;")
	f.Fuzz(func(t *testing.T, was, is string) {
		if strings.ContainsAny(was+is, "{}") {
			return
		}
		got := inlineDiff(was, is)
		if got == "" {
			return
		}
		assert.Equal(t, was, side(got, "{+", "+}", "{-", "-}"))
		assert.Equal(t, is, side(got, "{-", "-}", "{+", "+}"))
	})
}

// side drops what stands between from and to, and the marks of the other side.
func side(s, from, to, keepFrom, keepTo string) string {
	for {
		before, rest, found := strings.Cut(s, from)
		if !found {
			break
		}
		_, after, _ := strings.Cut(rest, to)
		s = before + after
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, keepFrom, ""), keepTo, "")
}
