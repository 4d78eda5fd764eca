package edit

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// pieces are what fuzzed texts are spelled with: everything some fold treats
// specially, parts of it, and a few letters so that things repeat.
var pieces = []string{
	"a", "b", " ", "\n", "\r\n", "\r", "'", "’", "‘", "\"", "“", "”", "′", "″", "-", "–", "−",
	"\u00a0", "\u202f", "\xe2", "\x80", "\x99", "\xc2", "1", " | ", "   1 | ", "   2 | ", "é", "e\u0301", "\u200b", "\t", "A", "\\n", "=", "(", "x y",
}

func spell(codes []byte) string {
	var out strings.Builder
	for _, c := range codes {
		out.WriteString(pieces[int(c)%len(pieces)])
	}
	return out.String()
}

func FuzzPlaces(f *testing.F) {
	f.Add([]byte{0, 7, 0, 6, 0, 7, 0}, []byte{0, 6, 0})
	f.Add([]byte{4, 0, 4, 0, 4, 0, 3, 0}, []byte{3, 0, 3})
	f.Add([]byte{19, 20, 21, 19, 7, 18, 17}, []byte{6})
	f.Add([]byte{6, 7, 8, 6, 7, 8}, []byte{7, 6})
	f.Add(make([]byte, 200), make([]byte, 50))
	f.Fuzz(func(t *testing.T, textCodes, oldCodes []byte) {
		text, old := spell(textCodes), spell(oldCodes)
		if old == "" || len(text) > 5000 {
			return
		}
		for _, kind := range []fold{foldNothing, foldBreaks, foldLooks} {
			if kind != foldNothing && !utf8.ValidString(old) {
				continue
			}
			want := slowPlaces(text, old, kind)
			p := compile(old, kind)
			var anchored, stepped []place
			p.each(text, func(found place) bool { anchored = append(anchored, found); return true })
			p.automaton(text, -1, func(found place) bool { stepped = append(stepped, found); return true })
			if !slices.Equal(anchored, want) || !slices.Equal(stepped, want) {
				t.Fatalf("fold %d of %q in %q\nwant %v\nanchor %v\nautomaton %v", kind, old, text, want, anchored, stepped)
			}
		}
	})
}

func FuzzReplace(f *testing.F) {
	add := func(text, old, new []byte) {
		f.Add(text, old, new, false)
		f.Add(text, old, new, true)
	}
	add([]byte{0, 4, 1, 4, 0}, []byte{0, 3, 1}, []byte{1, 3, 3, 0})
	add([]byte{10, 0, 11, 2, 9, 1, 9}, []byte{9, 0, 9}, []byte{9, 1, 9, 2, 9, 0, 9})
	add([]byte{0, 4, 1, 3, 0, 5, 1}, []byte{1, 3, 0}, []byte{1, 4, 3, 0})
	add([]byte{23, 12, 23, 13, 2, 0}, []byte{23, 6, 23, 9}, []byte{23, 6, 23, 9, 2, 23, 9})
	add([]byte{0, 3, 1, 3}, []byte{25, 0, 3, 26, 1}, []byte{25, 1, 3, 26, 0})
	add([]byte{0, 7, 1, 2, 10, 1, 11}, []byte{0, 6, 1}, []byte{6, 0, 6, 9, 1, 9})
	add([]byte{3, 4, 5}, []byte{3, 5}, []byte{0, 3}) // "\n\r" twice, dividing a "\r\n"
	f.Fuzz(func(t *testing.T, textCodes, oldCodes, newCodes []byte, all bool) {
		if len(textCodes)+len(oldCodes)+len(newCodes) > 2000 {
			return
		}
		checkReplace(t, spell(textCodes), Request{Old: spell(oldCodes), New: spell(newCodes), All: all})
	})
}

func checkReplace(t *testing.T, text string, r Request) {
	t.Helper()
	res, err := Replace(text, r)
	if err != nil {
		checkRefusal(t, text, r, res, err)
		return
	}
	checkResult(t, text, r, res)
}

var rounds = flag.Int("rounds", 5_000, "how many random edits to try; another number gives others")

// TestRandomEdits does what the fuzz targets do with texts that have more in
// common: old_string is a piece of the text, spelled another way now and then.
func TestRandomEdits(t *testing.T) {
	for i := range *rounds {
		rnd := rand.New(rand.NewPCG(uint64(i), uint64(*rounds)))
		codes := func(n int) []byte {
			out := make([]byte, rnd.IntN(n))
			few := 1 + rnd.IntN(len(pieces))
			for i := range out {
				out[i] = byte(rnd.IntN(few))
			}
			return out
		}
		vary := func(in []byte) []byte {
			out := slices.Clone(in)
			for range rnd.IntN(4) {
				if len(out) > 0 {
					out[rnd.IntN(len(out))] = byte(rnd.IntN(len(pieces)))
				}
				if rnd.IntN(3) == 0 {
					out = slices.Insert(out, rnd.IntN(len(out)+1), byte(rnd.IntN(len(pieces))))
				}
			}
			return out
		}
		text := codes(30)
		start := rnd.IntN(len(text) + 1)
		old := vary(text[start : start+rnd.IntN(len(text)-start+1)])
		new := vary(old)
		checkReplace(t, spell(text), Request{Old: spell(old), New: spell(new), All: rnd.IntN(2) == 0})
		other := spell(vary(text))
		checkHunks(t, spell(text), other, Diff(spell(text), other))
		checkChanges(t, spell(text), spell(old), new)
		if t.Failed() {
			t.Fatalf("round %d", i)
		}
	}
}

func FuzzHunks(f *testing.F) {
	f.Add([]byte{0, 3, 1, 3, 0, 3}, []byte{1}, []byte{0, 3, 0}, []byte{0, 3, 1})
	f.Add([]byte{0, 4, 1, 4, 0}, []byte{0}, []byte{}, []byte{1, 3, 3})
	f.Add([]byte{0, 5, 1, 5, 0}, []byte{0}, []byte{3}, []byte{1})
	f.Add([]byte{0, 3, 0, 3, 0, 3}, []byte{3}, []byte{2}, []byte{})
	f.Fuzz(func(t *testing.T, textCodes, oldCodes, newCodes, other []byte) {
		if len(textCodes)+len(oldCodes)+len(newCodes)+len(other) > 2000 {
			return
		}
		text := spell(textCodes)
		checkHunks(t, text, spell(other), Diff(text, spell(other)))
		checkChanges(t, text, spell(oldCodes), newCodes)
	})
}

// checkChanges replaces every old by a longer and longer part of what newCodes spell.
func checkChanges(t *testing.T, text, old string, newCodes []byte) {
	t.Helper()
	if old == "" {
		return
	}
	var changes []Change
	end := 0
	for i, p := range slowPlaces(text, old, foldNothing) {
		if p.start >= end {
			changes = append(changes, Change{p.start, p.end, spell(newCodes[:min(len(newCodes), i)])})
			end = p.end
		}
	}
	checkHunks(t, text, slowApply(text, changes), Hunks(text, changes))
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"", "a\n", "\xef\xbb\xbfa", "\xff\xfea\x00\n\x00", "\xfe\xff\x00a", "\xff\xfe\x00\x00a\x00\x00\x00",
		"\x80\x810\xda0 a", "\x00\x00\xfe\xff\x00\x00\x00a", "\xff\xfe\x3d\xd8\x00\xde", "\xff\xfe\x00\xd8", "\xe4\xb8", "\xef\xbb\xbf\xef\xbb\xbf",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := Decode(b)
		var bad *EncodingError
		if err != nil {
			if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset >= len(b) || bad.Line < 1 {
				t.Fatalf("%q: %#v", b, err)
			}
			return
		}
		// Of a legacy encoding only what a change leaves alone has its own bytes: some
		// characters have several spellings.
		parts, err := text.Change(NewResult(text.Body))
		back := bytes.Join(parts, nil)
		if err != nil || string(back) != string(b) {
			t.Fatalf("%q came back as %q, %v", b, back, err)
		}
		if !utf8.ValidString(text.Body) {
			t.Fatalf("%q decoded to %q", b, text.Body)
		}
	})
}
