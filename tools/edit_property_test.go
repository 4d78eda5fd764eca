package tools

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// A script is an encoding, and what texts in it are spelled with.
type script struct {
	name  string // as read_file's encoding; "" where a byte order mark tells it, or it is UTF-8
	mark  string
	codec encoding.Encoding
	words []string // text
	raw   []string // bytes that mean what other bytes mean too
}

func scripts(t *testing.T) []script {
	legacy := func(name string, words string, raw ...string) script {
		codec, err := htmlindex.Get(name)
		require.NoError(t, err)
		return script{name: name, codec: codec, words: strings.Fields(words), raw: raw}
	}
	any := strings.Fields("é ü ß 漢 字 😀 Ж “ ” ‘ ’ – — e\u0301")
	return []script{
		{codec: encoding.Nop, words: any},
		{mark: "\xef\xbb\xbf", codec: encoding.Nop, words: any},
		{mark: "\xff\xfe", codec: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), words: any},
		{mark: "\xfe\xff", codec: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), words: any},
		{mark: "\xff\xfe\x00\x00", codec: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), words: any},
		{mark: "\x00\x00\xfe\xff", codec: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), words: any},
		legacy("gbk", "数 据 库 连 接 测 试 “ ” — 乗"),
		legacy("gb18030", "数 据 库 连 接 测 试 “ ” — 😀 é"),
		legacy("big5", "中 文 許 功 蓋 「 」", "\xa2\xcc", "\xf9\xfe", "\xa1\xe1"),
		legacy("shift_jis", "日 本 語 ソ 表 能 ｱ ﾞ 。", "\x87\x90", "\x81\xe0", "\xfa\x54", "\x81\xca", "\xed\x40", "\xfa\x5c"),
		legacy("euc-jp", "日 本 語 ソ 表 能 ｱ 丂", "\xad\xf0", "\xa2\xe2"),
		legacy("euc-kr", "한 글 래 갂 정 보"),
		legacy("windows-1252", "é ü ß € “ ” ‘ ’ – —"),
		legacy("windows-1251", "П р и в е т « » “ ” —"),
		legacy("koi8-r", "П р и в е т ─"),
		legacy("iso-8859-2", "ř š č ž ą ł"),
	}
}

// pieces of a program, and what folding may touch.
var plainPieces = []string{"a", "b", "ab", "x = 1", " ", "\t", "  ", "'", "\"", "-", "\\n", "\\", "|", "~", "{", "}", "$1", "%d"}

func (s script) piece(r *rand.Rand) []byte {
	n := r.IntN(4)
	if n == 0 && len(s.raw) > 0 {
		return []byte(s.raw[r.IntN(len(s.raw))])
	}
	if n < 2 {
		return s.encode(s.words[r.IntN(len(s.words))])
	}
	return s.encode(plainPieces[r.IntN(len(plainPieces))])
}

// encode is nil where the encoding cannot hold text.
func (s script) encode(text string) []byte {
	b, err := s.codec.NewEncoder().Bytes([]byte(text))
	if err != nil {
		return nil
	}
	return b
}

// content is a random file without its mark.
func (s script) content(r *rand.Rand) []byte {
	// No lone "\r" among others: what is deleted between it and a "\n" makes them one.
	styles := [][]string{{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\r\n"}}
	breaks := styles[r.IntN(len(styles))]
	var b []byte
	for range 1 + r.IntN(8) {
		for range r.IntN(6) {
			b = append(b, s.piece(r)...)
		}
		b = append(b, s.encode(breaks[r.IntN(len(breaks))])...)
	}
	if r.IntN(2) == 0 {
		b = append(b, s.piece(r)...)
	}
	return b
}

// A unit is a character as its bytes, or a line break: what an edit takes or leaves whole.
type unit struct {
	bytes, text string
}

// units takes b apart one character after the other, by trying how many bytes one has.
func (s script) units(t *testing.T, b []byte) []unit {
	t.Helper()
	var out []unit
	for len(b) > 0 {
		u, ok := s.first(b)
		require.True(t, ok, "% X is no text in %s", b, s.name)
		if n := len(out); n > 0 && u.text == "\n" && out[n-1].text == "\r" {
			out[n-1].bytes += u.bytes
			out[n-1].text = "\r\n"
		} else {
			out = append(out, u)
		}
		b = b[len(u.bytes):]
	}
	return out
}

func (s script) first(b []byte) (unit, bool) {
	for n := 1; n <= min(len(b), 4); n++ {
		text, err := s.codec.NewDecoder().Bytes(b[:n])
		if err == nil && len(text) > 0 && utf8.Valid(text) && !bytes.ContainsRune(text, utf8.RuneError) {
			return unit{string(b[:n]), string(text)}, true
		}
	}
	return unit{}, false
}

func textOf(units []unit) string {
	var b strings.Builder
	for _, u := range units {
		b.WriteString(u.text)
	}
	return b.String()
}

// The steps of the match ladder, as the contract words them.
var (
	asIs   = func(s string) string { return s }
	breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace
	looks  = strings.NewReplacer("\r\n", "\n", "\r", "\n", "‘", "'", "’", "'", "′", "'", "“", "\"", "”", "\"", "″", "\"",
		"‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "―", "-", "−", "-", "\u00a0", " ", "\u2007", " ", "\u202f", " ").Replace
)

// found lists the unit ranges that old stands at under a folding, overlapping ones
// too. A break of which old has the second half counts whole.
func found(units []unit, old string, fold func(string) string) [][2]int {
	var out [][2]int
	want := fold(old)
	for i := range units {
		text := ""
		for j := i; j < min(len(units), i+len(want)); j++ {
			text += units[j].text
			if got := fold(text); got == want || units[i].text == "\r\n" && got == "\r"+want {
				out = append(out, [2]int{i, j + 1})
				break
			}
		}
	}
	return out
}

// oracleOf says where an edit belongs; ok is false where it is to be refused.
func oracleOf(units []unit, old string, all bool) (places [][2]int, ok bool) {
	for _, fold := range []func(string) string{asIs, breaks, looks} {
		if places = found(units, old, fold); len(places) > 0 {
			break
		}
	}
	if len(places) == 0 || len(places) > 1 && !all {
		return nil, false
	}
	var apart [][2]int
	for _, p := range places {
		if len(apart) == 0 || apart[len(apart)-1][1] <= p[0] {
			apart = append(apart, p)
		}
	}
	return apart, true
}

// requireOnly sees to it that after is before with only those places replaced: all
// bytes between them are the same, and at them is new, spelled the file's way.
func (s script) requireOnly(t *testing.T, before, after []unit, places [][2]int, old, new, why string) {
	t.Helper()
	rest := after
	same := func(units []unit) {
		for _, u := range units {
			require.NotEmpty(t, rest, why)
			require.Equal(t, u.bytes, rest[0].bytes, why)
			rest = rest[1:]
		}
	}
	from := 0
	for _, p := range places {
		same(before[from:p[0]])
		if kept := before[p[0]:p[1]]; looks(textOf(kept)) == looks(old) && strings.HasPrefix(new, old) && !strings.HasSuffix(new, "\n") {
			for i, u := range kept { // what new_string only adds to keeps the file's own characters
				require.Less(t, i, len(rest), why)
				require.Equal(t, u.text, rest[i].text, why)
			}
		}
		text, want := "", looks(new)
		for looks(text) != want {
			require.NotEmpty(t, rest, why)
			require.LessOrEqual(t, len(looks(text)), len(want), why)
			text += rest[0].text
			rest = rest[1:]
		}
		if !strings.ContainsAny(new, "\r\n") && !strings.ContainsAny(textOf(before), "‘’′“”″‐‑‒–—―−\u00a0") {
			require.Equal(t, new, text, why)
		}
		from = p[1]
	}
	same(before[from:])
	require.Empty(t, rest, why)
	if kind := breaksOf(before); len(kind) == 1 && looks(old) != looks(new) {
		require.Subset(t, kind, breaksOf(after), why)
	}
}

// breaksOf are the kinds of line breaks there are.
func breaksOf(units []unit) []string {
	var kinds []string
	for _, u := range units {
		if (u.text == "\n" || u.text == "\r" || u.text == "\r\n") && !slices.Contains(kinds, u.text) {
			kinds = append(kinds, u.text)
		}
	}
	return kinds
}

// request makes an edit of a file: mostly of what is there.
func (s script) request(r *rand.Rand, units []unit) (old, new string) {
	some := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString([]string{"a", "b", "\n", "'", "\"", "-", "Z", " ", "$1", "\\n", s.words[r.IntN(len(s.words))], "é", "字"}[r.IntN(13)])
		}
		return b.String()
	}
	from := r.IntN(len(units))
	old = textOf(units[from:min(len(units), from+1+r.IntN(8))])
	switch r.IntN(6) {
	case 0:
		old = breaks(old)
	case 1:
		old = looks(old)
	case 2:
		old += some(1)
	}
	if before, cut := strings.CutSuffix(old, "\r"); cut { // might be half a break
		old = before + "\n"
	}
	switch r.IntN(4) {
	case 0:
		return old, breaks(old) + some(1+r.IntN(2))
	case 1:
		return old, ""
	}
	return old, some(1 + r.IntN(5))
}

var propertyRounds = flag.Int("rounds", 50, "edits per encoding in TestAnEditIsRefusedOrExact")

// Random files in all encodings and line endings, random edits: each is refused and
// nothing has changed, or the file is what a slow and obvious editor makes of it.
func TestAnEditIsRefusedOrExact(t *testing.T) {
	rounds := *propertyRounds
	made, folded, refused := 0, 0, 0
	for n, s := range scripts(t) {
		t.Run(fmt.Sprintf("%d %s", n, s.name), func(t *testing.T) {
			p := newPlace(t, nil)
			for i := range rounds {
				r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				content := s.content(r)
				p.write("f.txt", s.mark+string(content))
				read := map[string]any{"file_path": "f.txt"}
				if s.name != "" {
					read["encoding"] = s.name
				}
				p.ok("read_file", read)
				before := s.units(t, content)
				old, new := s.request(r, before)
				all := r.IntN(3) == 0
				places, sure := oracleOf(before, old, all)
				res := p.call("edit_file", map[string]any{"file_path": "f.txt", "old_string": old, "new_string": new, "replace_all": all})
				why := fmt.Sprintf("round %d: %q by %q (all %v) in %q: %s", i, old, new, all, content, res.Text)
				after := p.file("f.txt")
				if res.IsError {
					refused++
					require.Equal(t, s.mark+string(content), after, why)
					fits := s.encode(new) != nil || new == ""
					mixedQuotes := strings.Contains(res.Text, "leave a pair half curly")
					require.False(t, sure && fits && looks(old) != looks(new) && !mixedQuotes, why)
					continue
				}
				made++
				require.True(t, sure, why)
				require.True(t, strings.HasPrefix(after, s.mark), why)
				s.requireOnly(t, before, s.units(t, []byte(after[len(s.mark):])), places, old, new, why)
				if strings.Contains(res.Text, "(matched via ") {
					folded++
				}
			}
		})
	}
	require.Greater(t, made, 4*rounds)
	require.Greater(t, folded, rounds/2)
	require.Greater(t, refused, 2*rounds)
}
