package edit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	tests := []struct {
		why            string
		text, old, new string
		all            bool
		want, via      string
	}{
		{why: "exact", text: "a b c", old: "b", new: "B", want: "a B c"},
		{why: "deleting", text: "a b c", old: " b", new: "", want: "a c"},
		{why: "all places", text: "x\ny\nx\n", old: "x", new: "$1 ${1} \\1 %1", all: true, want: "$1 ${1} \\1 %1\ny\n$1 ${1} \\1 %1\n"},
		{why: "a backslash at the line's end stays", text: "* key:\n  value\n", old: "* key:\n", new: "* key:\\\n", want: "* key:\\\n  value\n"},
		{why: "escapes are two characters", text: "re = ''\n", old: "re = ''", new: `re = 'a\nb\tc\\d'`, want: `re = 'a\nb\tc\\d'` + "\n"},
		{why: "no blank line appears", text: "a\nb\nc\n", old: "b\n", new: "B\n", want: "a\nB\nc\n"},
		{why: "bytes that are not UTF-8 stay", text: "n = 4\n# \xca\xfd\xbe\xdd\n", old: "n = 4", new: "n = 5", want: "n = 5\n# \xca\xfd\xbe\xdd\n"},

		// Line endings.
		{why: "LF for CRLF, everywhere", text: "a\r\nb\r\nx\r\na\r\nb\r\n", old: "a\nb", new: "A\nB", all: true, want: "A\r\nB\r\nx\r\nA\r\nB\r\n", via: viaEndings},
		{why: "CRLF for LF", text: "a\nb\n", old: "a\r\nb", new: "A\r\nB", want: "A\nB\n", via: viaEndings},
		{why: "LF for CR", text: "a\rb\rc\r", old: "a\nb", new: "A\nB\nx", want: "A\rB\rx\rc\r", via: viaEndings},
		{why: "CR only, one line", text: "a\rb\rc\r", old: "b", new: "B", want: "a\rB\rc\r"},
		{why: "a new line in a CRLF file", text: "a\r\nb\r\n", old: "a", new: "a\nx", want: "a\r\nx\r\nb\r\n"},
		{why: "mixed: other lines keep theirs", text: "a\r\nb\nc\r\nd\n", old: "b", new: "B", want: "a\r\nB\nc\r\nd\n"},
		{why: "mixed: replaced lines keep theirs", text: "a\r\nb\nc\r\nd\n", old: "a\nb\nc\n", new: "A\nB\nC\n", want: "A\r\nB\nC\r\nd\n", via: viaEndings},
		{why: "mixed: a new line ends as the one before", text: "a\r\nb\nc\n", old: "b", new: "b\nx", want: "a\r\nb\r\nx\nc\n"},
		{why: "mixed: the first line has none before it", text: "a\nb\r\nc\n", old: "a", new: "x\na", want: "x\na\nb\r\nc\n"},
		{why: "converting endings is literal", text: "a\r\nb\r\n", old: "a\r\nb\r\n", new: "a\nb\n", want: "a\nb\n"},
		{why: "converting endings, in all places", text: "a\nb\r\nc\n", old: "\n", new: "\r\n", all: true, want: "a\r\nb\r\nc\r\n"},
		{why: "a break before the match is taken whole", text: "a\r\nb\r\nc", old: "\nb", new: "", want: "a\r\nc"},
		{why: "a break before the match stays whole", text: "a\r\nb\r\n", old: "\nb", new: "\nB", want: "a\r\nB\r\n"},
		{why: "a stray CR in the match is kept", text: "50%\r60%\nend\n", old: "50%\r60%", new: "50%\r70%\nx", want: "50%\r70%\nx\nend\n"},
		{why: "a kept CR and a new LF stay two breaks", text: "a\rb\nc\n", old: "a\nb", new: "a\n\nb", want: "a\r\r\nb\nc\n", via: viaEndings},
		{why: "one line without any ending", text: "a", old: "a", new: "a\r\nb", want: "a\r\nb"},

		{why: "of overlapping places the first, for all", text: "tick()\ntick()\ntick()\n", old: "tick()\ntick()", new: "x", all: true, want: "x\ntick()\n"},
		{why: "blank lines halved", text: "a\n\n\n\nb\n", old: "\n\n", new: "\n", all: true, want: "a\n\nb\n"},

		// Look-alikes.
		{why: "straight to curly is a real change", text: "tag = 'name'\n", old: "'name'", new: "‘name’", want: "tag = ‘name’\n"},
		{why: "the exact place wins", text: "t1 = \"ready\"\nt2 = “ready”\n", old: `"ready"`, new: `"busy"`, want: "t1 = \"busy\"\nt2 = “ready”\n"},
		{why: "the exact places win for all", text: "‘k’ = 1\n'k' = 2\n", old: "'k'", new: "'v'", all: true, want: "‘k’ = 1\n'v' = 2\n"},
		{why: "all folded places keep their own", text: "‘k’ = 1\n′k′ = 2\n", old: "'k'", new: "'v'", all: true, want: "‘v’ = 1\n′v′ = 2\n", via: viaQuotes},
		{why: "primes", text: "He is 5′ 11″ tall — ok\n", old: `5' 11" tall`, new: `5' 10" tall`, want: "He is 5′ 10″ tall — ok\n", via: viaQuotes},
		{why: "a new measure gets primes", text: "5′ 11″ tall\n", old: `5' 11" tall`, new: `5' 11" (6' 2") tall`, want: "5′ 11″ (6′ 2″) tall\n", via: viaQuotes},
		{why: "French apostrophe", text: "Ouvre l’armoire du fond\n", old: "l'armoire du fond", new: "l'armoire du haut", want: "Ouvre l’armoire du haut\n", via: viaQuotes},
		{why: "curly sent, straight there", text: "id=\"box\"\n", old: "id=“box”", new: "id=“crate”", want: "id=\"crate\"\n", via: viaQuotes},
		{why: "curly sent and added, straight there", text: "id=\"box\"\n", old: "id=“box”", new: "id=“box” class=“x”", want: "id=\"box\" class=\"x\"\n", via: viaQuotes},
		{why: "added marks open and close", text: "He said “yes” then.\n", old: `said "yes" then`, new: `said "yes", or "no" ("may be") then`, want: "He said “yes”, or “no” (“may be”) then.\n", via: viaQuotes},
		{why: "added apostrophe", text: "It’s “so”.\n", old: `It's "so"`, new: `It's "so", isn't it`, want: "It’s “so”, isn’t it.\n", via: viaQuotes},
		{why: "added code next to a typographic apostrophe", text: "// don’t\nx := \"a\"\n", old: "// don't", new: "// don't\ny := \"b\"", want: "// don’t\ny := \"b\"\nx := \"a\"\n", via: viaQuotes},
		{why: "single marks within double ones", text: "“a ‘b’”\n", old: `"a 'b'"`, new: `"a 'b' and 'c'"`, want: "“a ‘b’ and ‘c’”\n", via: viaQuotes},
		{why: "double becomes single", text: "a “x” b\n", old: `a "x" b`, new: `a 'x' b`, want: "a ‘x’ b\n", via: viaQuotes},
		{why: "a mark that moves turns round", text: "one” two\n", old: `one" two`, new: `one "two`, want: "one “two\n", via: viaQuotes},
		{why: "no-break space", text: "10\u00a0kg and 5\u00a0kg\n", old: "10 kg", new: "11 kg", want: "11\u00a0kg and 5\u00a0kg\n", via: viaBlanks},
		{why: "dash", text: "1990–1995\n", old: "1990-1995", new: "1990-1996", want: "1990–1996\n", via: viaDashes},
		{why: "the file's dash for the one sent", text: "a - b\n", old: "a — b", new: "a — b — c", want: "a - b - c\n", via: viaDashes},
		{why: "look-alikes and endings together", text: "l’un\r\nl’autre\r\n", old: "l'un\nl'autre", new: "l'un\nou\nl'autre", want: "l’un\r\nou\r\nl’autre\r\n", via: viaQuotes},
		{why: "endings as sent when only they differ", text: "l’un\r\nb\r\n", old: "l'un\nb", new: "l'un\r\nb", want: "", via: ""},

		// Line-number prefixes.
		{why: "prefixes on both", text: "alpha\nbeta\ngamma\n", old: "   1 | alpha\n   2 | beta", new: "   1 | ALPHA\n   2 | BETA", want: "ALPHA\nBETA\ngamma\n", via: viaPrefixes},
		{why: "prefixes on the old text only", text: "alpha\nbeta\n", old: "   1 | alpha", new: "ALPHA", want: "ALPHA\nbeta\n", via: viaPrefixes},
		{why: "the first prefix trimmed, a blank line's too", text: "a\n\nb\n", old: "1 | a\n   2 |\n   3 | b\n", new: "   1 | a\n   2 | c\n", want: "a\nc\n", via: viaPrefixes},
		{why: "prefixes and look-alikes", text: "x = “a”\n", old: `   7 | x = "a"`, new: `   7 | x = "b"`, want: "x = “b”\n", via: viaPrefixes + ", " + viaQuotes},
		{why: "a table in the file is not a listing", text: "1 | a\n2 | b\n", old: "1 | a\n", new: "1 | c\n", want: "1 | c\n2 | b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, err := Replace(tt.text, Request{Old: tt.old, New: tt.new, All: tt.all})
			if tt.want == "" {
				if !errors.Is(err, ErrNoChange) {
					t.Fatalf("got %q, %v; want ErrNoChange", got.Text(), err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Text() != tt.want || got.Via != tt.via {
				t.Errorf("got  %q via %q\nwant %q via %q", got.Text(), got.Via, tt.want, tt.via)
			}
		})
	}
}

func numbered(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "line %d\n", i+1)
	}
	return out.String()
}

func TestReplaceRefuses(t *testing.T) {
	var ambiguous *AmbiguousError
	var missing *NotFoundError
	tests := []struct {
		why            string
		text, old, new string
		all            bool
		is             error  // a sentinel, or
		as             any    // a type
		says           string // in its words
	}{
		{why: "nothing to look for", text: "abc", new: "x", is: ErrEmptyOld},
		{why: "identical", text: "abc", old: "b", new: "b", is: ErrIdentical},
		{why: "identical but for prefixes", text: "abc", old: "   1 | abc", new: "abc", is: ErrIdentical},
		{why: "the file's marks are those wanted", text: "a “b” c", old: `a "b" c`, new: "a “b” c", is: ErrNoChange},
		{why: "overlapping places", text: "-\n-\n-\n", old: "-\n-\n", new: "+\n", as: &ambiguous, says: "2 times (lines 1, 2)"},
		{why: "several places", text: "a = 1\nz\na = 1\nz\na = 1\n", old: "a = 1", new: "a = 2", as: &ambiguous, says: "3 times (lines 1, 3, 5)"},
		{why: "several under folding", text: "‘a’\n′a′\n", old: "'a'", new: "'b'", as: &ambiguous, says: "2 times (lines 1, 2)"},
		{why: "more lines than are told", text: strings.Repeat("a\n", 50), old: "a", new: "b", as: &ambiguous, says: "19, 20 and 30 more"},
		{why: "a pair would be half straight", text: "l’eau” and \"b\"\n", old: "l'eau", new: `"l'eau`, as: &missing, says: "half curly"},

		{why: "spaces for tabs", text: "func f() {\n\tif ok {\n\t\trun()\n\t}\n}\n", old: "    if ok {\n        run()", new: "    if ok {\n        walk()", as: &missing, says: "the file indents with tabs, old_string with spaces"},
		{why: "spaces for a tab, one line", text: "func f() {\n\tif ok {\n\t\trun()\n\t}\n}\n", old: "  if ok {", new: "  if no {", as: &missing, says: "tabs"},
		{why: "tabs for spaces", text: "a:\n    b\n", old: "\tb", new: "\tc", as: &missing, says: "the file indents with spaces, old_string with tabs"},
		{why: "depth", text: "a:\n    b: 1\n", old: "a:\n  b: 1", new: "x", as: &missing, says: "depth"},
		{why: "trailing blanks", text: "one  \ntwo\n", old: "one\ntwo", new: "x", as: &missing, says: "ends of lines differ: the file has some"},
		{why: "inner blanks", text: "x  =  1\n", old: "x = 1", new: "x = 2", as: &missing, says: "inside a line"},
		{why: "a break sent as two characters", text: "one\ntwo\n", old: `one\ntwo`, new: "x", as: &missing, says: "the file has a line break there"},
		{why: "two characters sent as a break", text: "say('one\\ntwo')\n", old: "say('one\ntwo')", new: "x", as: &missing, says: "the file has \\n as two characters"},
		{why: "escaped quotation marks", text: "say(\"hello\")\n", old: `say(\"hello\")`, new: "x", as: &missing, says: "backslashes"},
		{why: "decomposed in the file", text: "Ac\u0327a\u0303o ra\u0301pida\nfim\n", old: "Ação rápida", new: "OK", as: &missing, says: "decomposed (NFD) in the file, composed (NFC)"},
		{why: "composed in the file", text: "Ação rápida\nfim\n", old: "Ac\u0327a\u0303o ra\u0301pida", new: "OK", as: &missing, says: "composed (NFC) in the file"},
		{why: "zero-width space", text: "foo\u200bbar = 1\n", old: "foobar = 1", new: "x", as: &missing, says: "invisible"},
		{why: "case", text: "func Open() {\n", old: "func open() {", new: "x", as: &missing, says: "case"},
		{why: "blank lines", text: "alpha\n\nbeta\n", old: "alpha\nbeta", new: "x", as: &missing, says: "blank lines differ"},
		{why: "no final line break", text: "alpha\nbeta", old: "beta\n", new: "x", as: &missing, says: "no line break at its end"},
		{why: "already applied", text: "const a = 10;\nconst b = 2;\n", old: "const a = 1;", new: "const a = 10;", as: &missing, says: "already present at line 1"},
		{why: "already applied, after blank lines", text: "a\n\n\nb = 1234\n", old: "zzzz", new: "\n\nb = 1234", as: &missing, says: "already present at line 4"},
		{why: "a half pair on one line for a whole one on another", text: "“a ′b\n\"c d\n", old: "'b\n\"c", new: "\"b\nc", as: &missing, says: "half curly"},
		{why: "a stale text", text: "const a = 10;\nconst b = 2;\n", old: "const a = 1;\nconst b", new: "const c = 1;\nconst b", as: &missing, says: "   1 | const a = 10;"},
		{why: "one line of several differs", text: "alpha\nbeta\ngamma\ndelta\n", old: "alpha\nbeta\ngramma\ndelta\n", new: "x", as: &missing, says: "line 3 of old_string is the first that differs: it reads `gramma`, the file has `gamma`"},
		{why: "prefixes on some lines", text: "alpha\nbeta\n", old: "   1 | alpha\nbeta", new: "x", as: &missing, says: "some lines of old_string begin with a line-number prefix"},
		{why: "prefixes on some new lines", text: "alpha\nbeta\n", old: "   1 | alpha", new: "   1 | alpha\nx", as: &missing, says: "new_string has line-number prefixes"},
		{why: "numbers that do not count up are no prefixes", text: "alpha\nbeta\n", old: "1 | alpha\n7 | beta", new: "x", as: &missing},
		{why: "blanks where the file has none", text: "f(a,b)\n", old: "f(a, b)", new: "x", as: &missing, says: "inside a line"},
		{why: "a difference far down", text: numbered(100), old: strings.Replace(numbered(80), "line 70\n", "line seventy\n", 1), new: "x", as: &missing, says: "line 70 of old_string is the first that differs, {-only there-}{+only in the file+}: line {-seventy-}{+70+}"},
		{why: "the lines around it are shown", text: numbered(100), old: strings.Replace(numbered(80), "line 70\n", "line seventy\n", 1), new: "x", as: &missing, says: "  70 | line 70\n"},
		{why: "within a very long line", text: strings.Repeat("x,", 5000) + "needle = [1,2];" + strings.Repeat("y,", 5000), old: "needle = [1, 2];", new: "x", as: &missing, says: "inside a line"},
		{why: "nothing like it", text: "alpha\nbeta\n", old: "something else entirely", new: "x", as: &missing, says: "Nothing similar"},
		{why: "an empty file", text: "", old: "a", new: "x", as: &missing, says: "Nothing similar"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got, err := Replace(tt.text, Request{Old: tt.old, New: tt.new, All: tt.all})
			if err == nil {
				t.Fatalf("not refused: %q", got.Text())
			}
			if got.Text() != "" || got.Changes != nil {
				t.Errorf("a refusal carries a result: %+v", got)
			}
			if tt.is != nil && !errors.Is(err, tt.is) || tt.as != nil && !errors.As(err, tt.as) {
				t.Fatalf("wrong kind: %v", err)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("does not say %q:\n%v", tt.says, err)
			}
			if len(err.Error()) > 2500 {
				t.Errorf("%d bytes of explanation", len(err.Error()))
			}
		})
	}
}
