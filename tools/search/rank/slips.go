package rank

import "slices"

// slips finds the word that another was meant to be, from which it differs by one
// letter: missing, too many, another, or in each other's place. It maps a word without
// one of its letters to the words that it may come from: two words that differ by one
// letter have such a rest in common.
type slips map[string][]string

// minSlip is the length of the shortest word that is corrected, and maxSlip of the
// longest that is kept.
const (
	minSlip = 4
	maxSlip = 40
)

func (s slips) add(word string) {
	runes := []rune(word)
	if len(runes) < minSlip || len(runes) > maxSlip {
		return
	}
	for _, rest := range rests(runes) {
		if !slices.Contains(s[rest], word) {
			s[rest] = append(s[rest], word)
		}
	}
}

// name is the first word that word is one slip away from.
func (s slips) name(word string) (string, bool) {
	runes := []rune(word)
	if len(runes) < minSlip || len(runes) > maxSlip {
		return "", false
	}
	best := ""
	for _, rest := range rests(runes) {
		for _, known := range s[rest] {
			if isSlip(runes, []rune(known)) && (best == "" || known < best) {
				best = known
			}
		}
	}
	return best, best != ""
}

// rests are a word and what is left of it without one of its letters.
func rests(word []rune) []string {
	out := []string{string(word)}
	for i := range word {
		out = append(out, string(slices.Delete(slices.Clone(word), i, i+1)))
	}
	return out
}

// isSlip tells whether two words differ by one letter at most.
func isSlip(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch len(b) - len(a) {
	case 0:
		if i == len(a) || slices.Equal(a[i+1:], b[i+1:]) {
			return true
		}
		return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
	case 1:
		return slices.Equal(a[i:], b[i+1:])
	}
	return false
}
