package notebook

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNamed is how many cells an error lists.
const maxNamed = 8

// find is the index of the cell that has this id, or else of "cell-3" (from 0).
func (n *Notebook) find(name string) (int, error) {
	if name == "" {
		return 0, errors.New("the cell must be named: by its id, or cell-0 for the first")
	}
	found := -1
	for i := range n.cells {
		if n.cells[i].id != name {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("the id %s stands twice, at cell-%d and cell-%d; name the cell cell-N", shortQuote(name), found, i)
		}
		found = i
	}
	if i, ok := index(name); found >= 0 && ok && i < len(n.cells) && i != found {
		return 0, fmt.Errorf("%s is the id of the cell at place %d and the place of another cell; name the first cell-%d, or the other by its id", shortQuote(name), found, found)
	}
	if found >= 0 {
		return found, nil
	}
	if i, ok := index(name); ok && i < len(n.cells) {
		return i, nil
	}
	return 0, n.unknown(name)
}

// index is N of "cell-N".
func index(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "cell-")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	return i, err == nil && strconv.Itoa(i) == digits && i >= 0
}

func (n *Notebook) unknown(name string) error {
	if len(n.cells) == 0 {
		return fmt.Errorf("there is no cell %s: the notebook has no cells", shortQuote(name))
	}
	if _, ok := index(name); ok {
		return fmt.Errorf("there is no %s: the notebook has %s", shorten(name, 64), n.extent())
	}
	if like := n.like(name); len(like) > 0 {
		return fmt.Errorf("there is no cell %s; alike are %s", shortQuote(name), n.listed(like))
	}
	first := make([]int, min(len(n.cells), maxNamed))
	for i := range first {
		first[i] = i
	}
	return fmt.Errorf("there is no cell %s; a cell is named by its id or cell-N (from 0). The notebook has %s: %s", shortQuote(name), n.extent(), n.listed(first))
}

// extent is "12 cells, cell-0 to cell-11".
func (n *Notebook) extent() string {
	if len(n.cells) == 1 {
		return "one cell, cell-0"
	}
	return fmt.Sprintf("%d cells, cell-0 to cell-%d", len(n.cells), len(n.cells)-1)
}

// listed names cells, with a word about those of the notebook that are left out.
func (n *Notebook) listed(at []int) string {
	var out []string
	for _, i := range at[:min(len(at), maxNamed)] {
		s := fmt.Sprintf("cell-%d", i)
		if id := n.cells[i].id; id != "" {
			s += " (id " + shownID(id) + ")"
		}
		out = append(out, s)
	}
	if len(out) < len(n.cells) {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// like are the cells whose ids begin most as name does, if any does so for a few bytes.
func (n *Notebook) like(name string) []int {
	best := 3
	var out []int
	for i := range n.cells {
		switch same := alike(n.cells[i].id, name); {
		case same > best:
			best, out = same, []int{i}
		case same == best:
			out = append(out, i)
		}
	}
	return out
}

// alike is how many bytes a and b begin with alike, letter case aside.
func alike(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && lower(a[i]) == lower(b[i]) {
		i++
	}
	return i
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// label is how an error calls a cell.
func (n *Notebook) label(i int) string {
	if id := n.cells[i].id; id != "" {
		return fmt.Sprintf("cell-%d (id %s)", i, shownID(id))
	}
	return fmt.Sprintf("cell-%d", i)
}

// shownID is an id as it is; one that a reader could mistake for something else is
// quoted.
func shownID(id string) string {
	return plainOrQuoted(id, 64)
}

// plainOrQuoted is s as it is if it is a short word of letters, digits and a few marks.
func plainOrQuoted(s string, most int) string {
	if s == "" || len(s) > most {
		return shortQuote(s)
	}
	for _, c := range []byte(s) {
		word := c == '-' || c == '_' || c == '.' || c == '/' || c == '+' || '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z'
		if !word {
			return shortQuote(s)
		}
	}
	return s
}

func shortQuote(s string) string { return strconv.Quote(shorten(s, 64)) }

// shorten cuts s after so many characters.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return s[:runeOffset(s, most)] + "…"
}

// runeOffset is where character i of s begins; the end of s where it has fewer.
func runeOffset(s string, i int) int {
	for at := range s {
		if i == 0 {
			return at
		}
		i--
	}
	return len(s)
}
