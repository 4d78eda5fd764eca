package edit

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// slowPlaces is the obvious way to find all places: fold the text whole, compare
// at every unit.
func slowPlaces(text, old string, f fold) []place {
	var units []byte
	var offsets []int
	for i := 0; i < len(text); {
		code, n := slowUnit(text[i:], f)
		units, offsets = append(units, code), append(offsets, i)
		i += n
	}
	offsets = append(offsets, len(text))
	var want []byte
	for i := 0; i < len(old); {
		code, n := slowUnit(old[i:], f)
		want = append(want, code)
		i += n
	}
	var out []place
	for i := 0; i+len(want) <= len(units); i++ {
		if string(units[i:i+len(want)]) == string(want) {
			out = append(out, place{offsets[i], offsets[i+len(want)]})
		}
	}
	return out
}

var slowForms = []struct {
	forms string
	code  byte
}{
	{"‘’′", '\''}, {"“”″", '"'}, {"‐‑‒–—―−", '-'}, {"\u00a0\u2007\u202f", ' '},
}

func slowUnit(s string, f fold) (byte, int) {
	if f >= foldBreaks && strings.HasPrefix(s, "\r\n") {
		return '\n', 2
	}
	if f >= foldBreaks && s[0] == '\r' {
		return '\n', 1
	}
	if f == foldLooks {
		for _, form := range slowForms {
			for _, r := range form.forms {
				if strings.HasPrefix(s, string(r)) {
					return form.code, utf8.RuneLen(r)
				}
			}
		}
	}
	return s[0], 1
}

// checkRefusal compares a refusal with what the slow search finds.
func checkRefusal(t *testing.T, text string, r Request, res Result, err error) {
	t.Helper()
	if res.Text() != "" || res.Changes != nil {
		t.Fatalf("a refusal with a result: %+v", res)
	}
	exact := 0
	if r.Old != "" {
		exact = len(slowPlaces(text, r.Old, foldNothing))
	}
	var ambiguous *AmbiguousError
	var missing *NotFoundError
	switch {
	case errors.As(err, &ambiguous):
		if exact > 0 && ambiguous.Count != exact {
			t.Fatalf("%d places, there are %d", ambiguous.Count, exact)
		}
		if ambiguous.Count < 2 || len(ambiguous.Lines) != min(ambiguous.Count, maxLines) || !slices.IsSorted(ambiguous.Lines) {
			t.Fatalf("%+v", ambiguous)
		}
	case errors.As(err, &missing):
		if exact > 0 {
			t.Fatalf("%q stands in %q", r.Old, text)
		}
		checkMiss(t, text, missing)
	case errors.Is(err, ErrEmptyOld), errors.Is(err, ErrIdentical):
	case errors.Is(err, ErrNoChange):
		if exact > 0 && !sameButEndings(r.Old, r.New) {
			t.Fatalf("nothing changed: %q by %q in %q", r.Old, r.New, text)
		}
	default:
		t.Fatal(err)
	}
}

// checkMiss sees to it that an explanation is true and short.
func checkMiss(t *testing.T, text string, e *NotFoundError) {
	t.Helper()
	if len(e.Error()) > 2500 {
		t.Fatalf("%d bytes", len(e.Error()))
	}
	lines := splitLines(text, separator(text))
	if e.PresentAt > len(lines) {
		t.Fatalf("present at line %d of %d", e.PresentAt, len(lines))
	}
	if len(e.Block) == 0 {
		return
	}
	for i, shown := range e.Block {
		if shown != clip(plainLine(lines[e.First-1+i]), maxBlockLine) && !strings.Contains(shown, " bytes] … ") {
			t.Fatalf("line %d is %q, shown as %q", e.First+i, lines[e.First-1+i], shown)
		}
	}
}

// leftmost leaves out the places that overlap one before them.
func leftmost(places []place) []place {
	var out []place
	for _, p := range places {
		if len(out) == 0 || out[len(out)-1].end <= p.start {
			out = append(out, p)
		}
	}
	return out
}

// slowApply makes the changes from the last to the first, each in the whole text.
func slowApply(text string, changes []Change) string {
	for _, c := range slices.Backward(changes) {
		text = text[:c.Start] + c.New + text[c.End:]
	}
	return text
}

func checkResult(t *testing.T, text string, r Request, res Result) {
	t.Helper()
	if slowApply(text, res.Changes) != res.Text() {
		t.Fatalf("changes %+v of %q do not make %q", res.Changes, text, res.Text())
	}
	if res.Size() != len(res.Text()) || res.Lines() != Lines(res.Text()) {
		t.Fatalf("%d bytes, %d lines for %q", res.Size(), res.Lines(), res.Text())
	}
	if res.Text() == text {
		t.Fatalf("success without a change: %q by %q in %q", r.Old, r.New, text)
	}
	if strings.HasPrefix(res.Via, viaPrefixes) {
		old, _, without, _ := stripPrefixes(r.Old)
		if without > 0 {
			t.Fatal("prefixes on some lines taken")
		}
		r.Old = old
		if new, _, without, _ := stripPrefixes(r.New); without == 0 {
			r.New = new
		}
	}
	want := firstPlaces(text, r.Old)
	if len(want) == 0 || !r.All && len(want) > 1 {
		t.Fatalf("%q replaced in %q, found at %v", r.Old, text, want)
	}
	want = leftmost(want)
	if len(res.Changes) != len(want) {
		t.Fatalf("%d changes for %v", len(res.Changes), want)
	}
	end := 0
	for i, c := range res.Changes {
		p := wholeBreak(text, want[i])
		if p.start < end { // that half is taken already
			p = want[i]
		}
		if c.Start < end || p != (place{c.Start, c.End}) {
			t.Fatalf("change %+v for %v", c, want[i])
		}
		end = c.End
		// Folding and keeping change how a character is spelled, never which it is.
		if foldLooks.fold(c.New) != foldLooks.fold(r.New) {
			t.Fatalf("%q written as %q", r.New, c.New)
		}
		if res.Via == "" && !strings.ContainsAny(r.New, "\r\n") && c.New != r.New {
			t.Fatalf("exact, yet %q became %q", r.New, c.New)
		}
	}
	checkEndings(t, text, r, res)
	if strings.Contains(res.Via, viaQuotes) && len(res.Changes) == 1 {
		before, _ := halfPairs(text)
		if after, _ := halfPairs(res.Text()); after > before {
			t.Fatalf("half a pair: %q became %q", text, res.Text())
		}
	}
}

// firstPlaces is where the first step that finds anything finds it.
func firstPlaces(text, old string) []place {
	for _, f := range []fold{foldNothing, foldBreaks, foldLooks} {
		if f != foldNothing && !utf8.ValidString(old) {
			break
		}
		if found := slowPlaces(text, old, f); found != nil {
			return found
		}
	}
	return nil
}

// checkEndings: a file whose lines end alike still does, unless the edit was about endings.
func checkEndings(t *testing.T, text string, r Request, res Result) {
	t.Helper()
	before, after := CountEndings(text), CountEndings(res.Text())
	ending, uniform := before.Uniform()
	if !uniform || ending == "" || sameButEndings(r.Old, r.New) {
		return
	}
	if strings.Contains(strings.ReplaceAll(r.Old+"|"+r.New, "\r\n", ""), "\r") || before.CR > 0 && ending != "\r" {
		return
	}
	mixed := ending == "\n" && after.CRLF+after.CR > 0 ||
		ending == "\r\n" && after.LF+after.CR > 0 ||
		ending == "\r" && after.LF+after.CRLF > 0
	if mixed {
		t.Fatalf("%q by %q in %q gives %q", r.Old, r.New, text, res.Text())
	}
}

// checkHunks rebuilds the new text from the old one and the hunks.
func checkHunks(t *testing.T, old, new string, hunks []Hunk) {
	t.Helper()
	lines := splitLines(old, separator(old))
	var built []string
	at := 0
	for i, h := range hunks {
		start := h.OldStart
		if len(h.Old) > 0 {
			start--
		}
		if start < at || i > 0 && start == at {
			t.Fatalf("hunk %d touches the one before: %+v", i, hunks)
		}
		built = append(built, lines[at:start]...)
		newStart := h.NewStart
		if len(h.New) > 0 {
			newStart--
		}
		if newStart != len(built) || !slices.Equal(lines[start:start+len(h.Old)], h.Old) {
			t.Fatalf("hunk %d of %+v is not where it says (%q to %q)", i, hunks, old, new)
		}
		if slices.Equal(h.Old, h.New) {
			t.Fatalf("hunk %d changes nothing", i)
		}
		built = append(built, h.New...)
		at = start + len(h.Old)
	}
	built = append(built, lines[at:]...)
	if got := strings.Join(built, ""); got != new {
		t.Fatalf("%q to %q: hunks %+v make %q", old, new, hunks, got)
	}
	shown := Render(hunks, 7)
	if strings.Contains(shown, "\r") || strings.HasSuffix(shown, "\n") || strings.Count(shown, "\n") > 7+len(hunks) {
		t.Fatalf("%q", shown)
	}
	checkVisible(t, hunks)
}

// checkVisible: what a hunk takes and gives must not look the same.
func checkVisible(t *testing.T, hunks []Hunk) {
	t.Helper()
	for _, h := range hunks {
		var old, new []string
		for line := range strings.SplitSeq(Render([]Hunk{h}, 0), "\n") {
			switch {
			case strings.HasPrefix(line, "- "):
				old = append(old, line[2:])
			case strings.HasPrefix(line, "+ "):
				new = append(new, line[2:])
			}
		}
		if len(old) != len(h.Old) || len(new) != len(h.New) || slices.Equal(old, new) {
			t.Fatalf("%+v is shown as %q, %q", h, old, new)
		}
	}
}
