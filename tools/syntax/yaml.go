package syntax

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlBudget bounds, in bytes, what is parsed again to find a fault's line.
const yamlBudget = 4 << 20

// checkYAML reads each document of text into nodes. That expands no alias, and
// leaves tags such as !Ref as they are. A key that is there twice is no error:
// it is grammar, and most readers take the last one.
func checkYAML(text string) (*Error, bool) {
	lines, err := parseYAML(text)
	if err == nil {
		return nil, true
	}
	reason := yamlLine.ReplaceAllString(err.Error(), "")
	if strings.HasPrefix(reason, "exceeded max depth") {
		return nil, false
	}
	return &Error{Line: faultLine(text, lines), Reason: yamlReason(reason)}, true
}

// parseYAML returns the first error of text, and how many lines were read
// until then.
func parseYAML(text string) (lines int, err error) {
	r := &lineReader{text: text}
	decoder := yaml.NewDecoder(r)
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return r.lines, nil
		}
		if err != nil {
			return r.lines, err
		}
	}
}

// faultLine returns the number of the first line with which text, whose first
// bad lines do not parse, no longer parses: the one after the longest beginning
// that does. The library itself knows only where the block around it begins, or
// where it noticed that a bracket or quote is not closed. When the budget is
// spent, it is the best line found.
func faultLine(text string, bad int) int {
	ends := lineEnds(text, bad)
	good, step, budget := bad-1, 1, yamlBudget
	for good > 0 {
		if budget -= ends[good-1]; budget < 0 {
			return bad
		}
		if yamlParses(text[:ends[good-1]]) {
			break
		}
		bad, step = good, step*2
		good = max(0, good-step)
	}
	for bad-good > 1 {
		middle := (good + bad) / 2
		if budget -= ends[middle-1]; budget < 0 {
			return bad
		}
		if yamlParses(text[:ends[middle-1]]) {
			good = middle
		} else {
			bad = middle
		}
	}
	return bad
}

func yamlParses(text string) bool {
	_, err := parseYAML(text)
	return err == nil
}

// lineEnds returns the offsets after each of the first n lines of text.
func lineEnds(text string, n int) []int {
	ends := make([]int, 0, n)
	end := 0
	for line := range strings.Lines(text) {
		if len(ends) == n {
			break
		}
		end += len(line)
		ends = append(ends, end)
	}
	return ends
}

// lineReader hands out text by lines and counts those begun, so that an error
// tells how far its finder came.
type lineReader struct {
	text   string
	lines  int
	inLine bool
}

func (r *lineReader) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	if !r.inLine {
		r.lines++
	}
	line := r.text
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i+1]
	}
	n := copy(p, line)
	r.text, r.inLine = r.text[n:], n < len(line)
	return n, nil
}

// yamlLine is what the library puts before its reasons.
var yamlLine = regexp.MustCompile(`^yaml: (line [0-9]+: )?`)

// yamlReason adds to the reasons that say little what usually lies behind them.
func yamlReason(reason string) string {
	switch {
	case strings.HasPrefix(reason, "did not find expected key"),
		strings.HasPrefix(reason, "did not find expected '-' indicator"):
		return reason + " (wrong indentation, or text after a closing quote or bracket?)"
	case strings.HasPrefix(reason, "mapping values are not allowed"):
		return reason + " (wrong indentation, or a value with ': ' that needs quotes?)"
	case strings.HasPrefix(reason, "found unexpected end of stream"):
		return "a quote is not closed"
	case strings.HasPrefix(reason, "did not find expected ',' or"):
		return reason + " (a bracket that is not closed?)"
	default:
		return reason
	}
}
