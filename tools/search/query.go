package search

// Mode is what a grep reports.
type Mode int

const (
	Content          Mode = iota // matching lines, with context
	FilesWithMatches             // paths
	Count                        // paths with the number of matching lines
)

// What a zero in a Query stands for, and how much context there may be.
const (
	DefaultLimit   = 100
	DefaultMaxLine = 500
	maxContext     = 1000
)

// A Query says what to search for. Patterns are in the syntax of package regexp;
// ^ and $ stand for the beginning and end of a line, and nothing matches a line
// break unless Multiline is set. A carriage return before a line break is
// neither searched nor shown.
type Query struct {
	Pattern      string
	IgnoreCase   bool
	FixedStrings bool // the pattern is text, not an expression
	Word         bool // only where no letter, digit or underscore (of any script) adjoins
	Multiline    bool // a match may run over several lines, all of which are reported; "." still stops at them
	Mode         Mode

	Before, After int // lines of context in Content mode, at most 1000

	// Limit and Offset count matching lines in Content mode, else files.
	Limit, Offset int // a Limit of 0 is DefaultLimit

	MaxLine int // characters shown of a line, 0 is DefaultMaxLine
}

func (q Query) normal() Query {
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	if q.MaxLine <= 0 {
		q.MaxLine = DefaultMaxLine
	}
	q.Offset = max(q.Offset, 0)
	q.Before = min(max(q.Before, 0), maxContext)
	q.After = min(max(q.After, 0), maxContext)
	if q.Mode != Content {
		q.Before, q.After = 0, 0
	}
	return q
}

// A Line is one line of a report in Content mode.
type Line struct {
	Path    string // slash path below the root
	Number  int    // from 1; 0 with Binary
	Text    string // valid UTF-8 without line end; what is cut off is told in it
	Context bool   // shown for its neighbours' sake
	Gap     bool   // does not follow the line before: "--" goes between, if context was asked for
	Binary  bool   // stands for all matches in a binary file
}

// A FileCount is one file of a report in the other modes.
type FileCount struct {
	Path   string
	Count  int  // matching lines; 1 in FilesWithMatches mode
	Binary bool // Count is 1 for all
}

// A Report is the answer to a Query.
type Report struct {
	Mode  Mode
	Lines []Line      // Content mode
	Files []FileCount // the other modes

	Shown   int  // matching lines or files shown
	Total   int  // matching lines (Content) or files (else) altogether, the offset included
	Matches int  // matching lines altogether; in FilesWithMatches mode, files
	Rest    int  // Total less Offset and Shown
	Exact   bool // Total, Matches and Rest are final: counting was not cut short

	LongLines int // lines searched only in their first 64 MiB
	Split     int // files over 64 MiB searched in parts, so that a match over several lines may be missed
	Skipped
}
