package charset

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func named(t testing.TB, name string) Encoding {
	t.Helper()
	e, ok := Named(name)
	require.True(t, ok, name)
	return e
}

// everyEncoding runs f for each as a parallel subtest.
func everyEncoding(t *testing.T, f func(t *testing.T, e Encoding)) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, named(t, name))
		})
	}
}

// What a character is encoded to decodes to that character, for every one that
// there is; and every one that bytes can stand for can be encoded.
func TestEncodeEveryRune(t *testing.T) {
	everyEncoding(t, func(t *testing.T, e Encoding) {
		decodable := make(map[rune]bool)
		for _, r := range e.c.decoder().all {
			decodable[r] = true
		}
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if r >= utf8.RuneSelf && e.c.encoder().word(r) == 0 && !decodable[r] && r%997 != 0 {
				continue // an error takes its time
			}
			b, err := e.Encode(string(r))
			if err != nil {
				if bad := err.(*Error); decodable[r] || utf8.ValidRune(r) && bad.Rune != r {
					t.Fatalf("%U: %v", r, err)
				}
				continue
			}
			if back, err := e.Decode(b); err != nil || back != string(r) {
				t.Fatalf("%U is written as % X and read as %q", r, b, back)
			}
		}
	})
}

// Wherever x/text reads without U+FFFD so do we, and the same; wherever it puts
// one, that is the offset of the error. So it is for every sequence of one to
// three bytes of which the first is not ASCII.
func TestDecodeEverySequence(t *testing.T) {
	everyEncoding(t, func(t *testing.T, e Encoding) {
		var b [3]byte
		for i := 0x80; i <= 0xFF; i++ {
			b[0] = byte(i)
			checkDecode(t, e, b[:1])
			if e.c.decoder().two == nil {
				continue
			}
			for j := range 256 {
				b[1] = byte(j)
				checkDecode(t, e, b[:2])
			}
			for j := range 4096 { // a sample, with all lead bytes
				b[1], b[2] = byte(j*61), byte(j*61>>8*17+j)
				checkDecode(t, e, b[:3])
			}
		}
	})
}

// oracle is what x/text makes of b.
func oracle(e Encoding, b []byte) string {
	out, err := e.c.source.NewDecoder().Bytes(b)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// checkDecode asserts by hand: it is called millions of times.
func checkDecode(t *testing.T, e Encoding, b []byte) {
	t.Helper()
	want := oracle(e, b)
	valid := !strings.ContainsRune(want, utf8.RuneError) || bytes.Contains(b, []byte("\x84\x31\xA4\x37"))
	if e.c.leavesOpen(0x80) && strings.IndexFunc(want, isC1) >= 0 {
		valid = false
	}
	got, err := e.Decode(b)
	if err == nil {
		if !valid || got != want {
			t.Fatalf("% X is read as %q, by x/text as %q", b, got, want)
		}
		return
	}
	before, again := e.Decode(b[:err.(*Error).Offset])
	if again != nil || !strings.HasPrefix(want, before) {
		t.Fatalf("% X: %v, but %v before", b, err, again)
	}
	if valid && !strings.Contains(want[len(before):], "\uFFFD") && !noDigit(b[err.(*Error).Offset:]) {
		t.Fatalf("% X is refused, by x/text read as %q", b, want)
	}
}

// noDigit tells whether b begins with four bytes that x/text takes for GB18030
// though the second or the fourth is no digit: it lets 0x3A to 0x3F pass.
func noDigit(b []byte) bool {
	odd := func(x byte) bool { return 0x3A <= x && x <= 0x3F }
	return len(b) >= 4 && b[0] > 0x80 && b[2] > 0x80 && (odd(b[1]) || odd(b[3]))
}

func isC1(r rune) bool { return 0x80 <= r && r < 0xA0 }

func TestDecode(t *testing.T) {
	for _, c := range []struct{ encoding, bytes, text string }{
		{"GBK", "# \xca\xfd\xbe\xdd\xbf\xe2\n", "# 数据库\n"},
		{"GBK", "\x80\x81\x5c|", "€乗|"},
		{"GB18030", "\x84\x31\xa4\x37", "\uFFFD"},
		{"GB18030", "\x94\x39\xda\x33a", "💩a"},
		{"GB18030", "\xe3\x32\x9a\x35", "\U0010FFFF"},
		{"Big5", "\xa4\xa4\xa4\xe5\xb3\x5c", "中文許"},
		{"Big5", "\x88\x62\x88\xa5", "\u00CA\u0304\u00EA\u030C"},
		{"Big5", "\x87\x40", "䏰"}, // HKSCS
		{"Shift_JIS", "\x93\xfa\x96\x7b\x8c\xea\x83\x5c\\~", "日本語ソ\\~"},
		{"Shift_JIS", "\xc3\xde\xb0\xc0 \x87\x40\xfa\x40", "ﾃﾞｰﾀ ①ⅰ"},
		{"EUC-JP", "\xc6\xfc\xcb\xdc\x8e\xb1\x8f\xb0\xa1", "日本ｱ丂"},
		{"EUC-KR", "\xc7\xd1\xb1\xdb\xb7\xa1\x81\x41", "한글래갂"},
		{"windows-1252", "\x93caf\xe9\x94 \x80", "“café” €"},
		{"windows-1251", "\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"},
		{"KOI8-R", "\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"},
		{"IBM866", "\x8f\xe0\xa8\xa2\xa5\xe2", "Привет"},
		{"ISO-8859-1", "\x85\xe9", "\u0085é"},
		{"macintosh", "\x8e\xf0", "é\uF8FF"},
	} {
		e := named(t, c.encoding)
		got, err := e.Decode([]byte(c.bytes))
		if assert.NoError(t, err, c.text) {
			assert.Equal(t, c.text, got)
		}
		b, err := e.Encode(c.text)
		if assert.NoError(t, err, c.text) {
			assert.Equal(t, c.bytes, string(b))
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ encoding, bytes, message string }{
		{"GBK", "ab\xca", "not valid GBK: the text ends inside a character that begins with 0xCA at byte 2"},
		{"GBK", "\xca\n", "not valid GBK: it has no character for the byte 0xCA at byte 0"},
		{"GBK", "\xca\xfd\xff", "not valid GBK: it has no character for the byte 0xFF at byte 2"},
		{"GBK", "\x84\x31\xa4\x37", "not valid GBK: it has no character for the byte 0x84 at byte 0"},
		{"GB18030", "\xfe\x39\xfe\x39", "not valid GB18030: it has no character for the bytes 0xFE 39 FE 39 at byte 0"},
		{"GB18030", "\x84\x31\xa4", "not valid GB18030: the text ends inside a character that begins with 0x84 at byte 0"},
		{"windows-1252", "x\x81", "not valid windows-1252: it has no character for the byte 0x81 at byte 1"},
		{"windows-1253", "\xaa", "not valid windows-1253: it has no character for the byte 0xAA at byte 0"},
		{"Shift_JIS", "\x85\x40", "not valid Shift_JIS: it has no character for the bytes 0x85 40 at byte 0"},
		{"EUC-JP", "\x8f\xa1\xa1", "not valid EUC-JP: it has no character for the bytes 0x8F A1 A1 at byte 0"},
	} {
		_, err := named(t, c.encoding).Decode([]byte(c.bytes))
		assert.EqualError(t, err, c.message, "%q", c.bytes)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, c := range []struct{ encoding, text, message string }{
		{"windows-1252", "caf\u00e9 \u4e2d", "cannot be written as windows-1252: it has no '中' (U+4E2D) (offset 6)"},
		{"Shift_JIS", "\u00a5", "cannot be written as Shift_JIS: it has no '¥' (U+00A5) (offset 0)"},
		{"GBK", "a\xff", "cannot be written as GBK: the text is not valid UTF-8 (offset 1)"},
		{"GB18030", "\xff", "cannot be written as GB18030: the text is not valid UTF-8 (offset 0)"},
		{"Big5", "\u00ca\u0301", "cannot be written as Big5: it has no '\u0301' (U+0301) (offset 2)"},
	} {
		_, err := named(t, c.encoding).Encode(c.text)
		assert.EqualError(t, err, c.message)
	}
}

func TestZeroEncoding(t *testing.T) {
	var e Encoding
	assert.Empty(t, e.Name())
	_, err := e.Decode([]byte("a"))
	assert.Error(t, err)
	_, err = e.Encode("a")
	assert.Error(t, err)
	_, err = io.ReadAll(e.NewReader(strings.NewReader("a")))
	assert.Error(t, err)
	assert.Equal(t, []int{-1}, e.Locate([]byte("a"), []int{0}))
}

func TestNamed(t *testing.T) {
	for alias, want := range map[string]string{
		"gbk": "GBK", "GB_2312": "GBK", "cp936": "GBK", "gb-18030": "GB18030", "BIG5-HKSCS": "Big5",
		"sjis": "Shift_JIS", "Shift JIS": "Shift_JIS", "ms932": "Shift_JIS", "windows-31j": "Shift_JIS",
		"eucjp": "EUC-JP", "euc_kr": "EUC-KR", "CP949": "EUC-KR", "ks_c_5601-1987": "EUC-KR",
		"cp1251": "windows-1251", "win1252": "windows-1252", "latin1": "ISO-8859-1", "Latin-9": "ISO-8859-15",
		"iso8859-2": "ISO-8859-2", "koi8r": "KOI8-R", "cp866": "IBM866", "IBM866": "IBM866", "tis-620": "windows-874",
		"Mac Roman": "macintosh", "": "", "utf-8": "", "utf8": "", "ascii": "", "iso-2022-jp": "",
	} {
		e, ok := Named(alias)
		assert.Equal(t, want, e.Name(), alias)
		assert.Equal(t, want != "", ok, alias)
	}
	assert.True(t, slices.IsSorted(Names()))
	total := 0
	for _, c := range codecs {
		total += 1 + len(strings.Fields(c.aliases))
		assert.Equal(t, c, byName[fold(c.name)], "an alias of another has the name %s", c.name)
	}
	assert.Len(t, byName, total, "an alias is given twice")
}

func TestLocate(t *testing.T) {
	everyEncoding(t, func(t *testing.T, e Encoding) {
		b := sample(e)[:800]
		text, err := e.Decode(b)
		require.NoError(t, err)
		checkLocate(t, e, b, text)
		assert.Equal(t, []int{-1, -1}, e.Locate(b, []int{len(text) + 1, len(text) + 2}))
	})
}

// sample is some of all characters, between ASCII of several lengths.
func sample(e Encoding) []byte {
	var b []byte
	n := 0
	for word := range e.c.decoder().all {
		if n++; n%397 == 0 || n < 150 {
			b = append(appendWord(b, word), "0123456789abcdefghijk\n"[:n%23]...)
		}
	}
	return b
}

// checkLocate compares with decoding each beginning of b.
func checkLocate(t *testing.T, e Encoding, b []byte, text string) {
	t.Helper()
	offsets, want := make([]int, len(text)+1), make([]int, len(text)+1)
	for i := range offsets {
		offsets[i], want[i] = i, -1
	}
	for i := 0; i < len(b); {
		want[len(text)-len(mustDecode(t, e, b[i:]))] = i
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := e.c.decoder().at(b[i:])
		i += size
	}
	want[len(text)] = len(b)
	require.Equal(t, want, e.Locate(b, offsets))
}

func mustDecode(t *testing.T, e Encoding, b []byte) string {
	t.Helper()
	s, err := e.Decode(b)
	require.NoError(t, err)
	return s
}

func TestReader(t *testing.T) {
	everyEncoding(t, func(t *testing.T, e Encoding) {
		b := sample(e)
		checkReader(t, e, b)
		checkReader(t, e, append(slices.Clone(b[:200]), 0xFF, 0xFF, 'a'))
		checkReader(t, e, append(slices.Clone(b[:200]), 0x84))
		checkReader(t, e, append(slices.Clone(b[:200]), 0x8F, 0xA2))
	})
}

// checkReader compares with Decode, for reads of one byte, of all, and for two
// reads split at each place.
func checkReader(t *testing.T, e Encoding, b []byte) {
	t.Helper()
	want, wantErr := e.Decode(b)
	if wantErr != nil {
		want = mustDecode(t, e, b[:wantErr.(*Error).Offset])
	}
	check := func(r io.Reader) {
		t.Helper()
		got, err := io.ReadAll(e.NewReader(r))
		require.Equal(t, want, string(got))
		if wantErr == nil {
			require.NoError(t, err)
			return
		}
		require.Equal(t, wantErr, err)
	}
	check(bytes.NewReader(b))
	check(iotest.OneByteReader(bytes.NewReader(b)))
	check(iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(b))))
	for i := 0; i <= len(b); i += 1 + len(b)/100 {
		check(io.MultiReader(bytes.NewReader(b[:i]), bytes.NewReader(b[i:])))
	}
}

// An error of the stream is told as it is, after the text before it.
func TestReaderPassesErrors(t *testing.T) {
	e := named(t, "GBK")
	got, err := io.ReadAll(e.NewReader(io.MultiReader(strings.NewReader("a\xca\xfd\xca"), iotest.ErrReader(io.ErrClosedPipe))))
	assert.Equal(t, "a数", string(got))
	assert.Equal(t, io.ErrClosedPipe, err)
	_, err = e.NewReader(iotest.ErrReader(nil)).Read(make([]byte, 1))
	assert.Equal(t, io.ErrNoProgress, err)
}
