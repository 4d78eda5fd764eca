package edit

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRender(t *testing.T) {
	numbered := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	tests := []struct {
		why, old, new, want string
	}{
		{"one line", strings.Replace(numbered, "5", "old", 1), strings.Replace(numbered, "5", "new", 1), "@@ -5,1 +5,1 @@\n- old\n+ new"},
		{"lines put in", numbered, strings.Replace(numbered, "6\n", "x\ny\n6\n", 1), "@@ -5,0 +6,2 @@\n+ x\n+ y"},
		{"lines taken out", numbered, strings.Replace(numbered, "6\n7\n", "", 1), "@@ -6,2 +5,0 @@\n- 6\n- 7"},
		{"the first line put in", "a\n", "x\na\n", "@@ -0,0 +1,1 @@\n+ x"},
		{"numbers move on", numbered, "0\n" + strings.Replace(numbered, "7", "x", 1), "@@ -0,0 +1,1 @@\n+ 0\n@@ -7,1 +8,1 @@\n- 7\n+ x"},
		{"into an empty text", "", "a\n", "@@ -0,0 +1,1 @@\n+ a"},
		{"down to an empty text", "a\n", "", "@@ -1,1 +0,0 @@\n- a"},
		{"nothing changed", "a\n", "a\n", ""},
		{"no CR is shown", "a\r\nb\r\n", "a\r\nc\r\n", "@@ -2,1 +2,1 @@\n- b\n+ c"},
		{"endings differ", "a\r\n", "a\n", "@@ -1,1 +1,1 @@\n- a [CRLF]\n+ a [LF]"},
		{"CR only becomes LF", "a\rb\r", "a\nb\n", "@@ -1,2 +1,2 @@\n- a [CR]\n- b [CR]\n+ a [LF]\n+ b [LF]"},
		{"the final ending goes", "a\nb\n", "a\nb", "@@ -2,1 +2,1 @@\n- b [LF]\n+ b [no newline at end]"},
		{"a last line without ending", "a\nb", "a\nc", "@@ -2,1 +2,1 @@\n- b\n+ c"},
		{"a per cent sign", "5\n", "100%d %s\n", "@@ -1,1 +1,1 @@\n- 5\n+ 100%d %s"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := Render(Diff(tt.old, tt.new), 0); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestRenderCuts(t *testing.T) {
	long := strings.Repeat("é", 700)
	got := Render(Diff("a\n", long+"\n"), 0)
	if want := "+ " + strings.Repeat("é", 500) + " … [+200 chars]"; !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
	got = Render(Diff(strings.Repeat("a\n", 10), strings.Repeat("b\n", 10)), 4)
	if want := "@@ -1,10 +1,10 @@\n- a\n- a\n+ b\n+ b\n... (16 more changed lines)"; got != want {
		t.Errorf("%s", got)
	}
	got = Render(Diff("a\nb\nc\n", "x\nb\ny\n"), 2)
	if want := "@@ -1,1 +1,1 @@\n- a\n+ x\n... (2 more changed lines)"; got != want {
		t.Errorf("%s", got)
	}
}

func TestRenderShowsWhereLongLinesDiffer(t *testing.T) {
	head, tail := strings.Repeat("é", 3000), strings.Repeat("z", 3000)
	got := Render(Diff(head+"old"+tail+"\n", head+"new"+tail+"\n"), 0)
	if !strings.Contains(got, "old") || !strings.Contains(got, "new") || !utf8.ValidString(got) {
		t.Errorf("%s", got)
	}
}

func TestHunks(t *testing.T) {
	tests := []struct {
		why, text string
		changes   []Change
		want      string
	}{
		{"none", "a\n", nil, ""},
		{"within a line", "a b c\n", []Change{{2, 3, "B"}}, "@@ -1,1 +1,1 @@\n- a b c\n+ a B c"},
		{"two in a line", "a b c\n", []Change{{0, 1, "A"}, {4, 5, "C"}}, "@@ -1,1 +1,1 @@\n- a b c\n+ A b C"},
		{"neighbouring lines", "a\nb\n", []Change{{0, 1, "A"}, {2, 3, "B"}}, "@@ -1,2 +1,2 @@\n- a\n- b\n+ A\n+ B"},
		{"the middles of neighbouring lines", "xay\nxby\n", []Change{{1, 2, "A"}, {5, 6, "B"}}, "@@ -1,2 +1,2 @@\n- xay\n- xby\n+ xAy\n+ xBy"},
		{"new numbers count what came before", "a\nb\nc\n", []Change{{0, 1, "x\ny"}, {4, 5, "C"}}, "@@ -1,1 +1,2 @@\n- a\n+ x\n+ y\n@@ -3,1 +4,1 @@\n- c\n+ C"},
		{"what stays is no part", "a\nb\nc\n", []Change{{0, 5, "a\nB\nc"}}, "@@ -2,1 +2,1 @@\n- b\n+ B"},
		{"joining lines", "a\nb\nc\n", []Change{{1, 2, " "}}, "@@ -1,2 +1,1 @@\n- a\n- b\n+ a b"},
		{"joining many lines", "a\nb\nc\n", []Change{{1, 2, ""}, {3, 4, ""}}, "@@ -1,3 +1,1 @@\n- a\n- b\n- c\n+ abc"},
		{"a line taken out", "a\nb\nc\n", []Change{{2, 4, ""}}, "@@ -2,1 +1,0 @@\n- b"},
		{"put at the end", "a\n", []Change{{2, 2, "b\n"}}, "@@ -1,0 +2,1 @@\n+ b"},
		{"CR becomes LF", "a\rb\r", []Change{{1, 2, "\n"}, {3, 4, "\n"}}, "@@ -1,2 +1,2 @@\n- a [CR]\n- b [CR]\n+ a [LF]\n+ b [LF]"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := Render(Hunks(tt.text, tt.changes), 0); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
