package charset

import (
	"bytes"
	"fmt"
	mathrand "math/rand"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"n = 4\n# \xca\xfd\xbe\xdd\xbf\xe2\n", "GBK"},                                                       // 数据库
		{"x = 1 // \xb2\xe2\xca\xd4\n", "GBK"},                                                               // 测试
		{"int n; /* \x90\xdd\x92\xe8 */\n", "Shift_JIS"},                                                     // 設定
		{"# \x83\x65\x83\x58\x83\x67\n", "Shift_JIS"},                                                        // テスト
		{"// \xb5\xa5\xc0\xcc\xc5\xcd\xba\xa3\xc0\xcc\xbd\xba\n", "EUC-KR"},                                  // 데이터베이스
		{"// \xb8\xea\xae\xc6\xae\x77\xb3\x73\xbd\x75\n", "Big5"},                                            // 資料庫連線
		{"# \xa4\xb3\xa4\xcc\xa4\xcf\xa5\xc6\xa5\xb9\xa5\xc8\xa4\xc7\xa4\xb9\n", "EUC-JP"},                   // これはテストです
		{"\x94\x39\xda\x33 \xca\xfd\xbe\xdd\xbf\xe2\xc1\xac\xbd\xd3\xca\xa7\xb0\xdc\n", "GB18030"},           // 💩 数据库连接失败
		{"He said \x93hello\x94 and it\x92s fine \x96 really\x85\n", "windows-1252"},                         // quotes and dashes
		{"Copyright \xa9 2007 J. Smith\n", "windows-1252"},                                                   //
		{"max 20\xb0C\n", "windows-1252"},                                                                    //
		{"delay 5 \xb5s\n", "windows-1252"},                                                                  //
		{"costs \xa3825 or \x80900\n", "windows-1252"},                                                       //
		{"# author: J\xfcrgen M\xfcller\n", "windows-1252"},                                                  //
		{"# caf\xe9 cr\xe8me\n", "windows-1252"},                                                             //
		{"# na b\xf8rn og \xe6bler\n", "windows-1252"},                                                       // børn og æbler
		{"# \xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0!\n", "windows-1251"},                                      // Привет, мир!
		{"# \xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2!\n", "KOI8-R"},                                            //
		{"# \xf0\xf2\xe9\xf7\xe5\xf4, \xed\xe9\xf2 \xf7\xef\xeb\xf2\xf5\xe7\n", "KOI8-R"},                    // all capitals
		{"# \x8f\xe0\xa8\xa2\xa5\xe2, \xac\xa8\xe0!\n", "IBM866"},                                            //
		{"# Za\xbf\xf3\xb3\xe6 g\xea\x9cl\xb9 ja\x9f\xf1\n", "windows-1250"},                                 // Zażółć gęślą jaźń
		{"# Za\xbf\xf3\xb3\xe6 g\xea\xb6l\xb1 ja\xbc\xf1\n", "ISO-8859-2"},                                   //
		{"\xb3\xe6\x95\x5c\x8e\xa6 \x82\xcd\x83\x65\x83\x58\x83\x67\x82\xc5\x82\xb7\x81\x42\n", "Shift_JIS"}, // with half-width katakana
	} {
		e, ok := Detect([]byte(c.text))
		text, _ := e.Decode([]byte(c.text))
		assert.Equal(t, c.want, e.Name(), "%q is read as %q", c.text, text)
		assert.Equal(t, c.want != "", ok)
	}
}

func TestDetectSaysNo(t *testing.T) {
	for what, text := range map[string]string{
		"empty":                              "",
		"ASCII":                              "package main\n",
		"UTF-8":                              "# 数据库, é\n",
		"UTF-8 cut in a character":           "# 数据库, 连接"[:16],
		"UTF-8 that begins in one":           "# 数据库, 连接"[4:],
		"a short one cut":                    "caf\xc3",
		"UTF-8 with a bad byte":              "# 数据库\xff连接\n",
		"UTF-8 with a letter of Latin-1":     "# café, naïve, über, caf\xe9\n",
		"GBK and UTF-8":                      "# \xca\xfd\xbe\xdd\xbf\xe2\xc1\xac\xbd\xd3\xca\xa7\xb0\xdc\n# 数据\n",
		"windows-1252 and UTF-8":             "# f\xfcr sp\xe4ter, Gr\xf6\xdfe\n# für\n",
		"windows-1251 and UTF-8":             "# \xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0!\n# Привет\n",
		"Shift_JIS and EUC-JP":               "\x82\xb1\x82\xea\x82\xcd\x83\x65\x83\x58\x83\x67\x82\xc5\x82\xb7\n\xa4\xb3\xa4\xec\xa4\xcf\xa5\xc6\xa5\xb9\xa5\xc8\xa4\xc7\xa4\xb9\n",
		"NUL":                                "\xca\xfd\xbe\xdd\xbf\xe2\x00\xc1\xac\xbd\xd3",
		"control characters":                 "\xca\xfd\xbe\xdd\xbf\xe2\x01\x02\xc1\xac\xbd\xd3",
		"half-width katakana or a warm coat": "\xc3\xde\xb0\xc0\n", // ﾃﾞｰﾀ, 棉袄
		"only boxes":                         "\xda\xc4\xc4\xc4\xbf\n\xb3   \xb3\n\xc0\xc4\xc4\xc4\xd9\n",
		"a lone byte":                        "\xff",
		"GBK cut in a character":             "# \xca\xfd\xbe\xdd\xbf\xe2\xc1\xac\xbd",
		"EBCDIC":                             "\xc4\x89\x85@\xe5\x85\x99\x82\x89\x95\x84\xa4\x95\x87\x15",
	} {
		e, ok := Detect([]byte(text))
		assert.False(t, ok, "%s: %s", what, e)
		assert.Equal(t, Encoding{}, e, what)
	}
}

// What begins as ASCII and is long is looked at where it is not ASCII; a character
// cut by the end of what is looked at does no harm.
func TestDetectLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("megabytes of text, in which nothing runs at the same time")
	}
	line := []byte("# \xca\xfd\xbe\xdd\xbf\xe2\xc1\xac\xbd\xd3\xca\xa7\xb0\xdc\n")
	for _, text := range [][]byte{
		append(bytes.Repeat([]byte("x = 1\n"), detectSize), line...),
		bytes.Repeat(line, 2*detectSize/len(line)),
		bytes.Repeat(line[2:], detectSize/8)[:detectSize],                                                       // cut in a character
		append([]byte("x"), bytes.Repeat([]byte("\xca\xfd\xbe\xdd\xbf\xe2,\xc1\xac\xbd\xd3"), detectSize/8)...), // one line
	} {
		e, _ := Detect(text)
		assert.Equal(t, "GBK", e.Name())
	}
}

// Random bytes are hardly ever taken for text.
func TestDetectRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement of many texts, in which nothing runs at the same time")
	}
	const runs = 1000
	random := mathrand.New(mathrand.NewSource(7))
	for _, n := range []int{64, 256, 1024, 4096} {
		claimed := 0
		for range runs {
			b := make([]byte, n)
			_, _ = random.Read(b)
			for i, x := range b { // without those that tell at once
				if x < ' ' || x == 0x7F {
					b[i] = x | 0x80
				}
			}
			if e, ok := Detect(b); ok {
				claimed++
				t.Logf("%d bytes: %s", n, e)
			}
		}
		assert.LessOrEqual(t, claimed, runs/1000, "%d bytes", n)
	}
}

var lengths = []int{2, 4, 8, 16, 64, 500}

// tally counts the answers for texts of one length.
type tally struct{ right, none, wrong int }

func (n tally) String() string {
	percent := 100 / float64(max(1, n.right+n.none+n.wrong))
	return fmt.Sprintf("%5.1f %5.2f", float64(n.right)*percent, float64(n.wrong)*percent)
}

// Comments of 2 to 500 characters that are not ASCII, in source code, in all
// languages and encodings: an answer is right if the text is. With -v it prints
// per cent right and wrong; the rest is "not sure".
func TestDetectConfusion(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement of many texts, in which nothing runs at the same time")
	}
	random := mathrand.New(mathrand.NewSource(1))
	total := make([]tally, len(lengths))
	for _, c := range corpus {
		for name := range strings.FieldsSeq(c.encodings) {
			var row []string
			e := named(t, name)
			for i, n := range lengths {
				got := countAnswers(t, random, e, c.text, n)
				row = append(row, got.String())
				total[i].right += got.right
				total[i].none += got.none
				total[i].wrong += got.wrong
			}
			t.Logf("%-20s %-13s %s", c.language, name, strings.Join(row, " | "))
		}
	}
	t.Logf("all of %v: %v", lengths, total)
	atLeast := []float64{0.70, 0.90, 0.96, 0.98, 0.99, 0.99}
	for i, n := range total {
		all := float64(n.right + n.none + n.wrong)
		assert.LessOrEqual(t, float64(n.wrong), []float64{0.002, 0.001}[min(i, 1)]*all, "%d characters", lengths[i])
		assert.GreaterOrEqual(t, float64(n.right), atLeast[i]*all, "%d characters", lengths[i])
	}
}

func countAnswers(t *testing.T, random *mathrand.Rand, e Encoding, text string, n int) tally {
	var count tally
	for range 40 {
		want := "x = f(x) + 1\n# " + excerpt(random, text, n) + "\nreturn x\n"
		b, err := e.Encode(want)
		require.NoError(t, err)
		got, ok := Detect(b)
		decoded, _ := got.Decode(b)
		switch {
		case !ok:
			count.none++
		case decoded == want:
			count.right++
		default:
			count.wrong++
			t.Logf("%s %q is taken for %s %q", e, want, got, decoded)
		}
	}
	return count
}

// excerpt begins at a word and ends after n characters that are not ASCII, at a
// space or, in languages without, anywhere.
func excerpt(random *mathrand.Rand, text string, n int) string {
	fields := strings.Fields(text)
	var out strings.Builder
	for i := random.Intn(len(fields)); n > 0; i++ {
		word := fields[i%len(fields)]
		high := utf8.RuneCountInString(word) - strings.Count(asciiOf(word), "") + 1
		if out.Len() == 0 && high == 0 {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		if r, _ := utf8.DecodeRuneInString(word); r >= 0xE00 && high > n {
			word = string([]rune(word)[:n])
		}
		out.WriteString(word)
		n -= high
	}
	return out.String()
}

func asciiOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return -1
		}
		return r
	}, s)
}
