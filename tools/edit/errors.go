package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// ErrEmptyOld: there is nothing to look for.
	ErrEmptyOld = errors.New("old_string is empty")
	// ErrIdentical: old_string and new_string are the same bytes.
	ErrIdentical = errors.New("old_string and new_string are identical")
	// ErrNoChange: old_string was found only through a step of the ladder, and
	// with the file's own characters kept the new text is what stands there.
	ErrNoChange = errors.New("the file already reads so: old_string and new_string differ only in characters that are kept as the file has them")
	// ErrTooMany: there are more than [MaxPlaces] places to replace.
	ErrTooMany = errors.New("too many places to replace")
	// ErrTooLong: the result would have more bytes than the request allows.
	ErrTooLong = errors.New("the result would be too long")
)

// An AmbiguousError says that old_string stands at several places.
type AmbiguousError struct {
	Count int   // overlapping places included
	Lines []int // where the first of them begin, at most 20
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("old_string found %d times (%s)", e.Count, e.Where())
}

// Where is "lines 1, 3 and 5", or "line 6" where all are in one, with a word about
// those left out.
func (e *AmbiguousError) Where() string {
	lines := slices.Compact(slices.Clone(e.Lines))
	more := e.Count - len(e.Lines)
	if len(lines) == 1 && more == 0 {
		return fmt.Sprintf("all in line %d", lines[0])
	}
	var out strings.Builder
	out.WriteString("lines ")
	for i, line := range lines {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprint(&out, line)
	}
	if more > 0 {
		fmt.Fprintf(&out, " and %d more places", more)
	}
	return out.String()
}

// A NotFoundError says that old_string does not stand in the text, and as well
// as can be told why. All of it describes the text as it is.
type NotFoundError struct {
	First     int      // line number of Block[0]; 0 when nothing in the text is close
	Block     []string // the closest lines, without endings, long ones cut; at most 20
	More      int      // lines of the closest block that are not in Block
	Causes    []string // what differs, as plain sentences
	PresentAt int      // line at which new_string already stands, 0 when it does not
}

func (e *NotFoundError) Error() string {
	help := e.Help()
	if help == "" {
		return "old_string not found"
	}
	return "old_string not found\n" + help
}

// maxHelp keeps an explanation shorter than most files.
const maxHelp = 2400

// Help is what a model needs to get it right the next time, at most some 2,400
// bytes, without a final line break. It does not repeat that nothing was found.
func (e *NotFoundError) Help() string {
	var out strings.Builder
	if e.PresentAt > 0 {
		fmt.Fprintf(&out, "new_string is already present at line %d: perhaps the edit is already applied.\n", e.PresentAt)
	}
	for _, cause := range e.Causes {
		fmt.Fprintf(&out, "- %s\n", cause)
	}
	if e.First == 0 {
		if out.Len() == 0 {
			out.WriteString("Nothing similar stands in the file. Read it again before the next edit.\n")
		}
		return clip(strings.TrimSuffix(out.String(), "\n"), maxHelp)
	}
	out.WriteString("The closest lines in the file are:\n")
	for i, line := range e.Block {
		shown := fmt.Sprintf("%4d | %s\n", e.First+i, line)
		if out.Len()+len(shown) > maxHelp-40 {
			fmt.Fprintf(&out, "... (%d more lines)\n", len(e.Block)-i+e.More)
			return strings.TrimSuffix(out.String(), "\n")
		}
		out.WriteString(shown)
	}
	if e.More > 0 {
		fmt.Fprintf(&out, "... (%d more lines)\n", e.More)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
