package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReplaceEach(t *testing.T) {
	for _, c := range []struct {
		why      string
		text     string
		requests []Request
		want     string
	}{
		{"each against the original text: a swap", "one two\n", []Request{{Old: "one", New: "two"}, {Old: "two", New: "one"}}, "two one\n"},
		{"in any order", "a b c", []Request{{Old: "c", New: "3"}, {Old: "a", New: "1"}}, "1 b 3"},
		{"what one would bring in is not found by the next", "a", []Request{{Old: "a", New: "ab"}}, "ab"},
		{"shared lines that nobody changes", "a\nb\nc\nd\ne\n", []Request{{Old: "a\nb\nc\n", New: "a\nB\nc\n"}, {Old: "c\nd\n", New: "c\nD\n"}}, "a\nB\nc\nD\ne\n"},
		{"neighbours", "ab", []Request{{Old: "a", New: "x"}, {Old: "b", New: "y"}}, "xy"},
		{"something put before what another replaces", "ab", []Request{{Old: "ab", New: "aXb"}, {Old: "b", New: "y"}}, "aXy"},
		{"all of one, one of another", "a a b", []Request{{Old: "a", New: "x", All: true}, {Old: "b", New: "y"}}, "x x y"},
		{"nothing left", "ab", []Request{{Old: "a", New: ""}, {Old: "b", New: ""}}, ""},
		{"characters are not torn", "é", []Request{{Old: "é", New: "è"}}, "è"},
	} {
		t.Run(c.why, func(t *testing.T) {
			res, err := ReplaceEach(c.text, c.requests)
			require.NoError(t, err)
			assert.Equal(t, c.want, res.Text())
			assert.Equal(t, c.want, slowApply(c.text, res.Changes))
		})
	}
}

func TestReplaceEachRefuses(t *testing.T) {
	for _, c := range []struct {
		why      string
		text     string
		requests []Request
		err      string
	}{
		{"two changes of one character", "a\nbc", []Request{{Old: "b", New: "x"}, {Old: "bc", New: "yc"}}, "edits 1 and 2 both change line 2"},
		{"one within another", "abc", []Request{{Old: "abc", New: "xyz"}, {Old: "b", New: "B"}}, "edits 1 and 2 both change line 1"},
		{"two additions at one point", "ab", []Request{{Old: "ab", New: "aXb"}, {Old: "a", New: "aY"}}, "edits 1 and 2 both change line 1"},
		{"the same edit twice", "a", []Request{{Old: "a", New: "b"}, {Old: "a", New: "b"}}, "edits 1 and 2 both change line 1"},
		{"one that is not there", "a", []Request{{Old: "a", New: "b"}, {Old: "zzz", New: "y"}}, "edit 2: old_string not found"},
		{"one that is there twice", "a a", []Request{{Old: "a", New: "b"}}, "edit 1: old_string found 2 times"},
		{"an empty one", "a", []Request{{Old: "", New: "b"}}, "edit 1: old_string is empty"},
		{"all together too long", "ab", []Request{{Old: "a", New: "aaa", Max: 5}, {Old: "b", New: "bbb", Max: 5}}, "the result would be too long"},
	} {
		t.Run(c.why, func(t *testing.T) {
			res, err := ReplaceEach(c.text, c.requests)
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), c.err), err.Error())
			assert.Empty(t, res)
		})
	}
}

// FuzzReplaceEach compares with the slow way: one after the other from the end of
// the text, wherever the places do not meet.
func FuzzReplaceEach(f *testing.F) {
	f.Add("one two", "one", "1", "two", "2")
	f.Add("aé\r\nb", "é\n", "e\n", "b", "")
	f.Fuzz(func(t *testing.T, text, old1, new1, old2, new2 string) {
		a, errA := Replace(text, Request{Old: old1, New: new1})
		b, errB := Replace(text, Request{Old: old2, New: new2})
		got, err := ReplaceEach(text, []Request{{Old: old1, New: new1}, {Old: old2, New: new2}})
		if errA != nil || errB != nil {
			require.Error(t, err)
			return
		}
		first, second := a.Changes[0], b.Changes[0]
		if first.Start > second.Start {
			first, second = second, first
		}
		if first.End > second.Start {
			if err == nil { // they met in what both keep
				require.Len(t, got.Changes, 2)
				assert.LessOrEqual(t, got.Changes[0].End, got.Changes[1].Start)
				assert.Equal(t, len(a.Text())+len(b.Text())-len(text), len(got.Text()))
			}
			return
		}
		require.NoError(t, err)
		want := text[:second.Start] + second.New + text[second.End:]
		want = want[:first.Start] + first.New + want[first.End:]
		assert.Equal(t, want, got.Text())
	})
}
