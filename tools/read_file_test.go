package tools

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadFileShows(t *testing.T) {
	for _, row := range []struct {
		name, content string
		args          map[string]any
		want          string
	}{
		{"numbered lines", "a\nb\n", nil, "   1 | a\n   2 | b"},
		{"no phantom line after the last newline", "a\n", nil, "   1 | a"},
		{"an empty line is a line", "\n\n", nil, "   1 | \n   2 | "},
		{"a last line without newline", "a\nb", nil, "   1 | a\n   2 | b\n[no newline at end of file]"},
		{"an empty file", "", nil, "(empty file)"},
		{"CRLF without the CR", "a\r\nb\r\n", nil, "   1 | a\n   2 | b\n[CRLF line endings]"},
		{"mixed endings", "a\r\nb\n", nil, "   1 | a\n   2 | b\n[mixed line endings]"},
		{"CR alone ends lines where there is no LF", "a\rb\r", nil, "   1 | a\n   2 | b\n[CR line endings]"},
		{"a CR within a line stays", "a\rb\n", nil, "   1 | a\rb"},
		{"a BOM is told, not shown", "\ufeffa\n", nil, "   1 | a\n[UTF-8 with BOM]"},
		{"only a BOM", "\ufeff", nil, "(empty file)\n[UTF-8 with BOM]"},
		{"UTF-16 little endian", "\xff\xfea\x00\r\x00\n\x00b\x00\r\x00\n\x00", nil, "   1 | a\n   2 | b\n[CRLF line endings]\n[encoding: UTF-16LE with BOM]"},
		{"UTF-16 big endian", "\xfe\xff\x00a\x00\n", nil, "   1 | a\n[encoding: UTF-16BE with BOM]"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00\n\x00\x00\x00", nil, "   1 | a\n[encoding: UTF-32LE with BOM]"},
		{"from an offset", "a\nb\nc\n", map[string]any{"offset": 2}, "   2 | b\n   3 | c\n[Lines 2-3 of 3.]"},
		{"some lines, and how to go on", "a\nb\nc\n", map[string]any{"limit": 2}, "   1 | a\n   2 | b\n[Lines 1-2 of 3. Continue with offset=3.]"},
		{"from the end", "a\nb\nc\n", map[string]any{"offset": -2}, "   2 | b\n   3 | c\n[Lines 2-3 of 3.]"},
		{"from further than the beginning", "a\nb\n", map[string]any{"offset": -9}, "   1 | a\n   2 | b"},
		{"offset 0 is the beginning", "a\n", map[string]any{"offset": 0}, "   1 | a"},
		{"a limit beyond all", "a\n", map[string]any{"limit": 1000000000000000000}, "   1 | a"},
		{"control characters as they are", "\x1b[31mred\x07\n", nil, "   1 | \x1b[31mred\x07"},
		{"an offset in an empty file", "", map[string]any{"offset": 5}, "(empty file)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": row.content})
			args := map[string]any{"file_path": "f"}
			for k, v := range row.args {
				args[k] = v
			}
			require.Equal(t, row.want, p.ok("read_file", args))
		})
	}
}

func TestReadFileRefuses(t *testing.T) {
	p := newPlace(t, map[string]string{
		"config.json": "{}\n", "d/x": "", "three": "a\nb\nc\n", "zeros": strings.Repeat("\x00", 5000), "png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"gbk": "n = 4\n# \xca\xfe\xb7\xdd\xbf\xe2\n", "cut": "ok\ntail \xe4\xb8",
	})
	for _, row := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"a missing file, with a near name", map[string]any{"file_path": "confg.json"}, "Error reading file: confg.json does not exist. Did you mean: config.json?"},
		{"another case", map[string]any{"file_path": "Config.JSON"}, "Error reading file: Config.JSON does not exist. Did you mean: config.json?"},
		{"nothing like it", map[string]any{"file_path": "zzz"}, "Error reading file: zzz does not exist. Use list_files to find it"},
		{"a missing folder", map[string]any{"file_path": "e/x"}, "Error reading file: e/x does not exist: there is no folder e. Did you mean: d?"},
		{"a directory", map[string]any{"file_path": "d"}, "Error reading file: d is a directory. Use list_files to see what is in it"},
		{"the workspace", map[string]any{"file_path": "."}, "Error reading file: . is a directory. Use list_files to see what is in it"},
		{"a file as a folder", map[string]any{"file_path": "three/x"}, "Error reading file: three/x: a part of the path is a file, not a directory"},
		{"an offset past the end", map[string]any{"file_path": "three", "offset": 4}, "Error reading file: offset 4 is past the end of three, which has 3 lines"},
		{"a limit of nothing", map[string]any{"file_path": "three", "limit": 0}, "Error: limit must be at least 1, but 0 came"},
		{"no path", map[string]any{"file_path": ""}, "Error: file_path must not be empty"},
		{"outside", map[string]any{"file_path": "../x"}, "Error: Path escapes workspace: ../x"},
		{"binary", map[string]any{"file_path": "zeros"}, "Error reading file: zeros is a binary file (unknown kind, 4.9 KB). read_file shows text, pictures (PNG, JPEG, GIF, WebP) and PDF"},
		{"a picture that is cut off", map[string]any{"file_path": "png"}, "Error reading file: png: this PNG picture (16 bytes) is cut off: not even its size can be read"},
		{"text in another encoding", map[string]any{"file_path": "gbk"}, "Error reading file: gbk is not UTF-8 text: byte 8 (line 2) does not fit, and it is not surely in another encoding. If you know which it is, pass encoding (GBK, Shift_JIS, windows-1252, …)"},
		{"text cut in a character", map[string]any{"file_path": "cut"}, "Error reading file: cut is not UTF-8 text: byte 8 (line 2) does not fit, and it is not surely in another encoding. If you know which it is, pass encoding (GBK, Shift_JIS, windows-1252, …)"},
		{"control characters in a path", map[string]any{"file_path": "a\x1b[31m"}, `Error reading file: "a\x1b[31m": the path contains the control character U+001B`},
	} {
		t.Run(row.name, func(t *testing.T) { require.Equal(t, row.want, p.fails("read_file", row.args)) })
	}
}

func TestLongLinesAreCutAtACharacter(t *testing.T) {
	for _, unit := range []string{"a", "é", "界", "🔥"} {
		p := newPlace(t, map[string]string{"f": strings.Repeat(unit, 70000) + "\nnext\n"})
		want := "   1 | " + strings.Repeat(unit, 2000) + " … [+68000 chars]\n   2 | next"
		require.Equal(t, want, p.ok("read_file", map[string]any{"file_path": "f"}))
	}
}

func TestAPageEndsBeforeItIsTooLong(t *testing.T) {
	p := newPlace(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 993)+"\n", 100)})
	got := p.ok("read_file", map[string]any{"file_path": "f"})
	require.True(t, strings.HasSuffix(got, "\n[Lines 1-49 of 100. Continue with offset=50.]"), got[len(got)-200:])
	require.LessOrEqual(t, len(got), 50100)
}

// Pages are made of what is between buffers as of what is in one.
func TestPagesDoNotDependOnBuffers(t *testing.T) {
	var b strings.Builder
	for i := range 30000 {
		b.WriteString(strings.Repeat("界", i%40) + "\r\n")
	}
	text := b.String()
	p := newPlace(t, map[string]string{"f": text, "big": text + strings.Repeat("y", 2<<20)})
	for _, name := range []string{"f", "big"} {
		got := p.ok("read_file", map[string]any{"file_path": name, "offset": 29999, "limit": 2})
		require.Contains(t, got, "29999 | "+strings.Repeat("界", 38)+"\n30000 | "+strings.Repeat("界", 39)+"\n")
		require.Contains(t, got, "[CRLF line endings]")
	}
}

func TestAHugeFileIsShownAtOnceAndInLittleMemory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the file would not be sparse there")
	}
	p := newPlace(t, map[string]string{"f": lines(2000)})
	require.NoError(t, os.Truncate(filepath.Join(p.dir, "f"), 10<<30))
	res := p.call("read_file", map[string]any{"file_path": "f", "limit": 50})
	require.False(t, res.IsError, res.Text)
	require.True(t, strings.HasSuffix(res.Text, "[Lines 1-50; more follow. Continue with offset=51.]"), res.Text)
	require.Regexp(t, `^s1\.`, res.Meta["version"])
	require.Contains(t, p.fails("write_file", map[string]any{"file_path": "f", "content": "x"}), "larger than 1 GiB")
}

func TestNonRegularFilesAreRefusedAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no FIFOs there")
	}
	p := newPlace(t, nil)
	require.NoError(t, mkfifo(filepath.Join(p.dir, "fifo")))
	require.Equal(t, "Error reading file: fifo is a named pipe (FIFO), not a regular file; it was not opened", p.fails("read_file", map[string]any{"file_path": "fifo"}))
	require.Equal(t, "Error: fifo is a named pipe (FIFO), not a regular file; it was not opened", p.fails("write_file", map[string]any{"file_path": "fifo", "content": "x"}))
}

func TestWithoutASessionTheVersionIsInTheText(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "a\nb\n"}).with(SessionOptions{Stateless: true})
	whole := p.call("read_file", map[string]any{"file_path": "f"})
	require.Equal(t, "   1 | a\n   2 | b\n[version: "+whole.Meta["version"].(string)+"]", whole.Text)
	require.Regexp(t, `^v1\.`, whole.Meta["version"])
	part := p.call("read_file", map[string]any{"file_path": "f", "limit": 1})
	require.Regexp(t, `^v1p\.`, part.Meta["version"])
}

func TestRootsComeFromTheClientWhenThereAreNone(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "a\n"})
	ws := p.env.Workspace
	_ = ws
	asked := 0
	p.env.Workspace = nil
	s := p.with(SessionOptions{Roots: func(context.Context) ([]string, error) { asked++; return []string{"file://" + p.dir}, nil }})
	require.Contains(t, s.fails("read_file", map[string]any{"file_path": "f"}), "no workspace")
	p.env.OpenRoots = openRootsOf(p.env)
	s.ok("read_file", map[string]any{"file_path": "f"})
	s.ok("read_file", map[string]any{"file_path": "f"})
	require.Equal(t, 1, asked)
	s.ForgetRoots()
	s.ok("read_file", map[string]any{"file_path": "f"})
	require.Equal(t, 2, asked)
	require.Contains(t, p.with(SessionOptions{}).fails("read_file", map[string]any{"file_path": "f"}), "no workspace: start the server with --root DIR")
}

func TestReadFileTellsWhatIsNotValid(t *testing.T) {
	p := newPlace(t, map[string]string{"odd": "\xff\xfea\x00b", "half": "\xff\xfe\x00\xd8a\x00", "mark": "\xef\xbb\xbfa\xffb\n"})
	require.Equal(t, "   1 | a\uFFFD\n[encoding: UTF-16LE with BOM]\n[no newline at end of file]\n[not valid UTF-16LE at byte 4 (line 1): what is not is shown as \uFFFD, and the file cannot be edited as text]",
		p.ok("read_file", map[string]any{"file_path": "odd"}))
	require.Contains(t, p.ok("read_file", map[string]any{"file_path": "half"}), "[not valid UTF-16LE at byte 2 (line 1)")
	require.Contains(t, p.fails("read_file", map[string]any{"file_path": "mark"}), "not UTF-8 text: byte 4")
	for name := range map[string]bool{"odd": true, "half": true} {
		require.Contains(t, p.fails("edit_file", map[string]any{"file_path": name, "old_string": "a", "new_string": "b"}), "is not text that can be edited")
	}
}
