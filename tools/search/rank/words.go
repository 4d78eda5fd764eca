package rank

import (
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// words gives the words of a text, in lower case: parted at what is no letter or
// digit, and in names also where a capital follows a small letter. Of scripts without
// blanks each pair of neighbours is a word.
func words(text string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case isIdeograph(r):
			end()
			if i+1 < len(runes) && isIdeograph(runes[i+1]) {
				out = append(out, string(runes[i:i+2]))
			} else if i == 0 || !isIdeograph(runes[i-1]) {
				out = append(out, string(r))
			}
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			if r != '\'' && r != '’' { // "don't" is a word
				end()
			}
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		if word = append(word, r); len(word) == maxWord {
			end()
		}
	}
	end()
	return out
}

// maxWord is the length in characters from which on a word is parted.
const maxWord = 64

func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// stem is a word without its ending ("forecasts", "forecasting": "forecast").
func stem(word string) string {
	for i := range len(word) {
		if word[i] >= 0x80 {
			return word
		}
	}
	return english.Stem(word, true)
}

// asking are words of a request that say nothing of what is wanted.
var asking = set(`a about above after again all also am an and any anybody anyone anything are as ask at be because been before being below between both but by
 can can't cannot could couldn't did do does doing don't down during each either else etc ever every few for from further get gets getting give given gives go going
 got had has have having he hello help helping helps her here hers hey hi him his how i i'd i'll i'm i've if in into is it it's its itself just kindly know let let's
 like likes looking looks lot make many may maybe me might mine more most much must my myself need needed needs no nor not now of off on once one only or other our
 ours out over own please possible provide provided provides providing really same shall she should since so some somebody someone something somewhere still such sure
 tell than thank thanks that that's the their theirs them then there there's these they thing things this those through to too tool tools try trying under until up
 upon us use used useful uses using very want wanted wants was way we well were what what's when where whether which while who whom whose why will wish with within
 without wonder wondering would you you'd you'll you're you've your yours yourself`)

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		m[w] = true
		m[strings.ReplaceAll(w, "'", "")] = true
	}
	return m
}

// grams are the parts of n letters of a word, its ends marked.
func grams(word string, n int) []string {
	runes := []rune("^" + word + "$")
	if len(runes) <= n {
		return []string{string(runes)}
	}
	out := make([]string, 0, len(runes)-n+1)
	for i := range len(runes) - n + 1 {
		out = append(out, string(runes[i:i+n]))
	}
	return out
}
