package media

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	// MaxPDFPages is how many pages of a PDF one call reads.
	MaxPDFPages = 20

	maxPageNumber = 1_000_000
)

var errPages = errors.New(`pages must be written as "3", "1-5" or "2-"`)

// ParsePages reads which pages of a PDF are wanted: "3", "1-5", or "2-", which
// is page 2 and as many after it as one call reads. Pages count from 1. The
// result goes into [PDFOptions]; that the file may have fewer pages is not its
// concern. An error is a sentence for the model.
func ParsePages(s string) (from, to int, err error) {
	first, last, isRange := strings.Cut(strings.ReplaceAll(s, "–", "-"), "-")
	if from, err = pageNumber(first); err != nil {
		return 0, 0, err
	}
	last = strings.TrimSpace(last)
	switch {
	case !isRange:
		return from, from, nil
	case last == "":
		return from, from + MaxPDFPages - 1, nil
	}
	if to, err = pageNumber(last); err != nil {
		return 0, 0, err
	}
	if to < from {
		return 0, 0, fmt.Errorf("pages %q goes backwards; did you mean \"%d-%d\"?", s, to, from)
	}
	if n := to - from + 1; n > MaxPDFPages {
		return 0, 0, fmt.Errorf("pages %q are %d pages, and at most %d are read at once; begin with \"%d-%d\"", s, n, MaxPDFPages, from, from+MaxPDFPages-1)
	}
	return from, to, nil
}

func pageNumber(s string) (int, error) {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, errPages
	}
	n, err := strconv.Atoi(s)
	switch {
	case err != nil || n > maxPageNumber:
		return 0, fmt.Errorf("no PDF has a page %s", s)
	case n == 0:
		return 0, errors.New("pages count from 1; there is no page 0")
	}
	return n, nil
}
