package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repeatsByTokens is repeatsMember as encoding/json sees it: a map of the names of
// each object that is open.
func repeatsByTokens(t testing.TB, text []byte) bool {
	type level struct {
		names map[string]bool // nil: an array
		value bool            // a value comes next, not a name
	}
	var open []*level
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			require.Empty(t, open, "%v in %q", err, text)
			return false
		}
		var top *level
		if len(open) > 0 {
			top = open[len(open)-1]
		}
		if name, ok := token.(string); ok && top != nil && top.names != nil && !top.value {
			if top.names[name] {
				return true
			}
			top.names[name], top.value = true, true
			continue
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if top != nil {
			top.value = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, &level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &level{})
		}
	}
}

// object has n members with names of their own, then more.
func object(n int, more ...string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"n%d":%d`, i, i))
	}
	return "{" + strings.Join(append(all, more...), ",") + "}"
}

func TestNamesThatAreRepeated(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"twice in the message", `{"a":1,"a":2}`},
		{"with the same value", `{"a":1,"a":1}`},
		{"not one after the other", `{"a":1,"b":2,"a":3}`},
		{"three times", `{"a":1,"a":2,"a":3}`},
		{"with values that are objects", `{"a":{},"a":{}}`},
		{"with values that are arrays", `{"a":[],"a":[]}`},
		{"with values that are strings", `{"a":"a","a":"b"}`},
		{"after an object that has the name too", `{"a":{"a":1},"a":1}`},
		{"in an object within", `{"b":{"a":1,"a":2}}`},
		{"in an object within that comes last", `{"b":{},"c":[{"a":1},{"a":1,"a":2}]}`},
		{"in an array", `[{"a":1,"a":2}]`},
		{"in an array of arrays", `[[[{"a":1,"a":2}]]]`},
		{"with blanks before the colon", "{\"a\" \t\r\n:1,\"a\"\n:2}"},
		{"with blanks around everything", " { \"a\" : 1 , \"a\" : 2 } "},
		{"the empty name", `{"":1,"":2}`},
		{"written with an escape", `{"a":1,"\u0061":2}`},
		{"both written with escapes", `{"\u0061":1,"\u0061":2}`},
		{"in hexadecimal of either case", `{"\u00E9":1,"\u00e9":2}`},
		{"a letter and its escape", `{"é":1,"\u00e9":2}`},
		{"a slash that is escaped", `{"a/b":1,"a\/b":2}`},
		{"a quote in the name", `{"a\"":1,"a\u0022":2}`},
		{"a backslash at its end", `{"a\\":1,"a\u005c":2}`},
		{"a line break in the name", `{"a\n":1,"a\u000a":2}`},
		{"a character of two escapes", `{"😀":1,"\ud83d\ude00":2}`},
		{"halves of characters, which are all read alike", `{"\ud800":1,"\udfff":2}`},
		{"half a character and what it is read as", `{"\ud800":1,"\ufffd":2}`},
		{"what looks like JSON", `{"{\"a\":1}":1,"{\"a\":1}":2}`},
		{"the last of as many as are compared one by one", object(fewNames-1, `"n0":0`)},
		{"the last of as many as are sorted", object(fewNames, `"n0":0`)},
		{"the last two of those", object(fewNames, `"z":0`, `"z":0`)},
		{"first and last of thousands", object(5000, `"n0":0`)},
		{"first and last of thousands, escaped", object(5000, `"\u006e0":0`)},
		{"in the innermost of 9,000 objects", strings.Repeat(`{"a":`, 9000) + `{"a":1,"a":2}` + strings.Repeat("}", 9000)},
		{"in the outermost of 9,000 objects", strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 8999) + `,"a":2}`},
		{"in the middle of 9,000 arrays", strings.Repeat("[", 4500) + `{"a":1,"b":` + strings.Repeat("[", 4499) + strings.Repeat("]", 4499) + `,"a":1}` + strings.Repeat("]", 4500)},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Nil(t, checkText([]byte(c.text)))
			require.True(t, repeatsByTokens(t, []byte(c.text)), "encoding/json sees it")
			assert.True(t, repeatsMember([]byte(c.text)))
		})
	}
}

func TestNamesThatAreNotRepeated(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"no object", `1`},
		{"a string", `"a"`},
		{"a string that looks like an object", `"{\"a\":1,\"a\":2}"`},
		{"an empty object", `{}`},
		{"an empty array", `[]`},
		{"another name", `{"a":1,"b":2}`},
		{"another case", `{"a":1,"A":2}`},
		{"a name with a blank", `{"a":1,"a ":2,"":3}`},
		{"equal strings in an array", `["a","a"]`},
		{"a value that is the name", `{"a":"a","b":"a"}`},
		{"an object after another", `[{"a":1},{"a":2}]`},
		{"an object within another", `{"a":{"a":{"a":1}}}`},
		{"an object in an array within", `{"a":[{"a":1},{"a":1}]}`},
		{"before and in an object within", `{"a":1,"b":{"a":1}}`},
		{"in an object within and after", `{"b":{"a":1},"a":1}`},
		{"a value with a colon", `{"a":"b:","b":":"}`},
		{"a value followed by what looks like a name", `{"a":"\"b\":","b":1}`},
		{"a value that ends with a backslash", `{"a":"\\","b":"\\"}`},
		{"brackets in strings", `{"a":"]}{[","b":"}}"}`},
		{"brackets in names", `{"}":1,"{":2,"[":{"}":1}}`},
		{"a backslash that makes no escape", `{"\\u0061":1,"a":2}`},
		{"letters composed and not, which are not the same", "{\"\u00e9\":1,\"e\u0301\":2}"},
		{"thousands of names", object(5000)},
		{"as many as are compared one by one", object(fewNames)},
		{"as few as are sorted", object(fewNames + 1)},
		{"9,000 objects within each other", strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)},
		{"9,000 arrays within each other", strings.Repeat("[", 9000) + strings.Repeat("]", 9000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Nil(t, checkText([]byte(c.text)))
			require.False(t, repeatsByTokens(t, []byte(c.text)), "encoding/json sees none")
			assert.False(t, repeatsMember([]byte(c.text)))
		})
	}
}

// TestTheLongestMessagesAreRead has no clock: were it not read in one go, the
// test would not end.
func TestTheLongestMessagesAreRead(t *testing.T) {
	fill := func(head, each, tail string) []byte {
		n := (maxMessage - len(head) - len(tail)) / len(each)
		return []byte(head + strings.Repeat(each, n) + tail)
	}
	var names strings.Builder
	names.WriteString(`{"first":0`)
	for i := 0; names.Len() < maxMessage-64; i++ {
		fmt.Fprintf(&names, `,"%x":0`, i)
	}
	for _, c := range []struct {
		name string
		text []byte
		want bool
	}{
		{"of small objects, the last of which repeats a name", fill(`[{}`, `,{"a":1}`, `,{"a":1,"a":1}]`), true},
		{"one string", fill(`{"a":"`, `\"`, `"}`), false},
		{"one name, and again", append(append([]byte(`{"`), bytes.Repeat([]byte("a"), maxMessage/2-10)...), append([]byte(`":1,"`), append(bytes.Repeat([]byte("a"), maxMessage/2-10), `":1}`...)...)...), true},
		{"one object of different names but the last", []byte(names.String() + `,"first":1}`), true},
		{"names in deep objects", fill(`[{}`, `,`+strings.Repeat(`{"a":`, 1000)+"1"+strings.Repeat("}", 1000), `]`), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.LessOrEqual(t, len(c.text), maxMessage)
			assert.Equal(t, c.want, repeatsMember(c.text))
		})
	}
}

func FuzzRepeatsMember(f *testing.F) {
	for _, text := range []string{
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"\ud800":1,"\ufffd":2}`, `{"a":{"a":[{"a":""}]},"b":"a"}`, `"a"`, `[]`, `{"a\\":"\"","\"":{}}`,
		object(20), object(20, `"n3":1`), `[{"a":1},{"a":1}]`, " {\"a\"\t:\r1\n,\"a\" : 2}", `{"":1,"":{}}`, `-1.5e+3`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if checkText(text) != nil {
			t.Skip("repeatsMember is for valid JSON")
		}
		before := bytes.Clone(text)
		require.Equal(t, repeatsByTokens(t, text), repeatsMember(text), "%q", text)
		require.Equal(t, before, text, "it only reads")
	})
}
