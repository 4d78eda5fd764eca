package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func spoolIn(dir string) func() (Spool, error) {
	st := OpenState(dir)
	return func() (Spool, error) { return st.Create() }
}

func captured(t testing.TB, text string, chunk int) *Captured {
	t.Helper()
	c := NewCaptured(spoolIn(t.TempDir()))
	t.Cleanup(func() { _ = c.Discard() })
	for b := []byte(text); len(b) > 0; {
		n := min(chunk, len(b))
		_, err := c.Write(b[:n])
		require.NoError(t, err)
		b = b[n:]
	}
	return c
}

// wantPreview is the rule, told simply.
func wantPreview(before, text string) string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	all := before + text
	if len(lines) > 200 {
		all = before + strings.Join(lines[:60], "") +
			fmt.Sprintf("[... %d lines not shown ...]\n", len(lines)-200) + strings.Join(lines[len(lines)-140:], "")
	}
	r := []rune(all)
	if len(r) <= 50000 {
		return all
	}
	return string(r[:24970]) + fmt.Sprintf("\n\n[... truncated %d chars ...]\n\n", len(r)-2*24970) + string(r[len(r)-24970:])
}

func seq(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

func TestCapturedPreview(t *testing.T) {
	texts := map[string]string{
		"empty":             "",
		"one line":          "a",
		"break only":        "\n",
		"200 lines":         seq(200),
		"201 lines":         seq(201),
		"201 open":          seq(200) + "x",
		"20000 lines":       seq(20000),
		"one long line":     "HEAD" + strings.Repeat("é", 120000) + "TAIL",
		"just 50000":        strings.Repeat("y", 50000),
		"just over":         strings.Repeat("y", 50001),
		"just over an end":  strings.Repeat("y", endSize+1),
		"two ends":          strings.Repeat("界", 2*endSize/3),
		"long lines":        strings.Repeat(strings.Repeat("z", 999)+"\n", 300),
		"many breaks":       strings.Repeat("\n", 300000),
		"emoji":             strings.Repeat("😀", 100000),
		"long first":        strings.Repeat("a", 60000) + "\n" + seq(300),
		"long lines a bit":  strings.Repeat(strings.Repeat("z", 240)+"\n", 5000),
		"head ends in rune": strings.Repeat("x", endSize-1) + strings.Repeat("é", 200),
	}
	for name, text := range texts {
		for _, chunk := range []int{1 << 20, 64 << 10, 4099, 7} {
			t.Run(fmt.Sprint(name, "/", chunk), func(t *testing.T) {
				c := captured(t, text, chunk)
				assert.EqualValues(t, len(text), c.Bytes())
				assert.EqualValues(t, utf8.RuneCountInString(text), c.Chars())
				assert.EqualValues(t, strings.Count(strings.TrimSuffix(text, "\n"), "\n")+min(1, len(text)), c.Lines())
				assert.Equal(t, wantPreview("header\n", text), c.Preview("header\n"))
				var whole strings.Builder
				_, err := c.WriteTo(&whole)
				require.NoError(t, err)
				require.True(t, text == whole.String(), "whole text differs")
			})
		}
	}
}

// Where memory does not hold what the rule wants to show, it shows other
// characters of the two ends, but the count stays right.
func TestCapturedPreviewOfUnevenEnds(t *testing.T) {
	for name, text := range map[string]string{
		"long last":  seq(300) + strings.Repeat(strings.Repeat("é", 2000)+"\n", 140),
		"long first": strings.Repeat(strings.Repeat("é", 2000)+"\n", 60) + seq(300),
		"both":       strings.Repeat(strings.Repeat("😀", 2000)+"\n", 300),
		"wide":       strings.Repeat("😀", 40000) + "\n" + seq(300),
	} {
		t.Run(name, func(t *testing.T) {
			want := wantPreview("", text)
			got := captured(t, text, 8191).Preview("")
			require.True(t, utf8.ValidString(got))
			mark := regexp.MustCompile(`\n\n\[\.\.\. truncated (\d+) chars \.\.\.\]\n\n`)
			loc := mark.FindStringSubmatchIndex(got)
			require.NotNil(t, loc)
			n, err := strconv.Atoi(got[loc[2]:loc[3]])
			require.NoError(t, err)
			head, tail := got[:loc[0]], got[loc[1]:]
			shown := utf8.RuneCountInString(head) + utf8.RuneCountInString(tail)
			assert.LessOrEqual(t, shown, 2*keepEnd)
			if loc := mark.FindStringSubmatchIndex(want); loc != nil {
				wantN, err := strconv.Atoi(want[loc[2]:loc[3]])
				require.NoError(t, err)
				assert.Equal(t, wantN+2*keepEnd, n+shown)
				return
			}
			assert.Equal(t, utf8.RuneCountInString(want), n+shown)
			assert.True(t, strings.HasPrefix(want, head) && strings.HasSuffix(want, tail))
		})
	}
}

func TestCapturedSpoolsWhenLarge(t *testing.T) {
	dir := t.TempDir()
	c := NewCaptured(spoolIn(dir))
	files := func() []os.DirEntry {
		l, _ := os.ReadDir(filepath.Join(dir, "results"))
		return l
	}
	c.Write(bytes.Repeat([]byte("a"), InMemory))
	assert.False(t, c.Large())
	assert.Empty(t, files())
	_, ok := c.Text()
	assert.True(t, ok)

	c.WriteString("b")
	assert.True(t, c.Large())
	require.Len(t, files(), 1)
	info, err := files()[0].Info()
	require.NoError(t, err)
	assert.EqualValues(t, InMemory+1, info.Size())
	if runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o600), info.Mode())
	}

	s := c.TakeSpool()
	require.NotNil(t, s)
	assert.Equal(t, filepath.Join(dir, "results", files()[0].Name()), s.(*SavedFile).Path())
	require.NoError(t, c.Discard())
	require.Len(t, files(), 1, "a spool taken over stays")
	require.NoError(t, s.Close())
	require.NoError(t, s.Discard())
	assert.Empty(t, files())
}

func TestCapturedDropsBeyondTheLimit(t *testing.T) {
	c := NewCaptured(spoolIn(t.TempDir()))
	defer c.Discard()
	c.limit = 100001
	c.WriteString(strings.Repeat("é", 100000))
	c.WriteString("END")
	assert.EqualValues(t, 200003, c.Bytes())
	assert.EqualValues(t, 200003-100000, c.Dropped())
	assert.True(t, strings.HasSuffix(c.Preview(""), "éEND"))

	e := captured(t, "oops\n", 10)
	require.NoError(t, c.Append("\nStderr:\n", e))
	var whole strings.Builder
	_, err := c.WriteTo(&whole)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("é", 50000)+dropped+"\nStderr:\noops\n", whole.String())
}

func TestCapturedAppend(t *testing.T) {
	for _, n := range []int{0, 10, InMemory - 20, InMemory, 300000} {
		for _, m := range []int{1, 2000, InMemory, 250001} {
			out, e := strings.Repeat("o\n", n/2), strings.Repeat("界", m/3+1)
			c := captured(t, out, 5000)
			require.NoError(t, c.Append("Stderr:\n", captured(t, e, 5001)))
			want := out + "Stderr:\n" + e
			var whole strings.Builder
			_, err := c.WriteTo(&whole)
			require.NoError(t, err)
			require.True(t, want == whole.String())
			assert.EqualValues(t, utf8.RuneCountInString(want), c.Chars())
			if m <= InMemory || n == 0 {
				assert.True(t, wantPreview("", want) == c.Preview(""), "%d %d", n, m)
			}
		}
	}
}

type brokenSpool struct{ *SavedFile }

func (brokenSpool) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestCapturedWithoutASpool(t *testing.T) {
	dir := t.TempDir()
	spools := map[string]func() (Spool, error){
		"none":        nil,
		"not made":    func() (Spool, error) { return nil, errors.New("read-only") },
		"not written": func() (Spool, error) { s, err := spoolIn(dir)(); return brokenSpool{s.(*SavedFile)}, err },
	}
	for name, spool := range spools {
		t.Run(name, func(t *testing.T) {
			c := NewCaptured(spool)
			c.WriteString(seq(18000))
			assert.Error(t, c.SpoolErr())
			assert.Equal(t, wantPreview("", seq(18000)), c.Preview(""))
			_, err := c.Open()
			assert.NoError(t, err, "memory still has all of it")
			c.WriteString(seq(20000))
			_, err = c.Open()
			assert.Error(t, err)
			assert.Zero(t, c.Dropped())

			d := captured(t, "", 1)
			require.NoError(t, d.Append("", c))
			assert.Contains(t, d.Preview(""), "\n60\n")
		})
	}
	left, err := os.ReadDir(filepath.Join(dir, "results"))
	require.NoError(t, err)
	assert.Empty(t, left, "a broken spool is removed")
}

func FuzzCaptured(f *testing.F) {
	f.Add("abc\n", uint16(300), uint64(1))
	f.Add("é\n\n", uint16(60000), uint64(2))
	f.Add("😀", uint16(60000), uint64(3))
	f.Fuzz(func(t *testing.T, unit string, times uint16, seed uint64) {
		if !utf8.ValidString(unit) || len(unit)*int(times) > 1<<20 {
			t.Skip()
		}
		text := strings.Repeat(unit, int(times))
		rnd := rand.New(rand.NewPCG(seed, 0))
		c := NewCaptured(func() (Spool, error) { return &memorySpool{}, nil })
		for b := []byte(text); len(b) > 0; {
			n := min(len(b), 1+rnd.IntN(70000))
			c.Write(b[:n])
			b = b[n:]
		}
		if c.Chars() != int64(utf8.RuneCountInString(text)) {
			t.Fatalf("%d chars", c.Chars())
		}
		got, want := c.Preview("x"), wantPreview("x", text)
		if !utf8.ValidString(got) {
			t.Fatal("a rune was split")
		}
		if got != want && len(text) <= endSize {
			t.Fatal("preview differs")
		}
		var whole strings.Builder
		if _, err := c.WriteTo(&whole); err != nil || whole.String() != text {
			t.Fatal("whole text differs", err)
		}
	})
}

type memorySpool struct{ bytes.Buffer }

func (m *memorySpool) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m.Bytes()).ReadAt(p, off)
}
func (*memorySpool) Close() error   { return nil }
func (*memorySpool) Discard() error { return nil }

func BenchmarkCaptured(b *testing.B) {
	for name, unit := range map[string]string{"x": "x", "y": "y\n", "log": strings.Repeat("x", 80) + "\n", "cjk": "界"} {
		b.Run(name, func(b *testing.B) {
			chunk := []byte(strings.Repeat(unit, (64<<10)/len(unit)))
			c := NewCaptured(func() (Spool, error) { return nullSpool{}, nil })
			b.SetBytes(int64(len(chunk)))
			for b.Loop() {
				c.Write(chunk)
			}
		})
	}
}

type nullSpool struct{}

func (nullSpool) Write(p []byte) (int, error)           { return len(p), nil }
func (nullSpool) ReadAt(p []byte, _ int64) (int, error) { return 0, io.EOF }
func (nullSpool) Close() error                          { return nil }
func (nullSpool) Discard() error                        { return nil }
