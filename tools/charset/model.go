package charset

import (
	"embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// The files of data say how often characters follow each other in a language.
// They were counted in translations of manuals, messages of programs, the
// Universal Declaration of Human Rights, collections of sayings, and in the
// dictionaries of jieba and IPADIC. All numbers are costs in half bits: -2 log2
// of the probability.
//
//go:embed data
var data embed.FS

// A bits is an amount of information in half bits.
type bits = int

// letters is the model of a language that is written with an alphabet.
type letters struct {
	of    map[rune]uint8 // from 1 on; 0 is whatever stands between words
	plain uint8          // letters up to this one are ASCII
	costs []uint8        // of a letter after a letter; of two ASCII ones unknown
	size  int
	rare  bits // how rare letters are that are not ASCII
}

// readLetters reads a file: the ASCII letters, the other ones, how rare these are,
// and one line for each
// first letter (what stands between words comes first) with the costs of the next
// in base 36, of pairs of ASCII left out.
func readLetters(language string) *letters {
	lines := strings.Split(file(language), "\n")
	m := &letters{of: make(map[rune]uint8), plain: uint8(len(lines[0]))}
	m.size = 1
	m.rare = number(lines[2])
	for _, r := range lines[0] + lines[1] {
		m.of[r] = uint8(m.size)
		m.size++
	}
	m.costs = make([]uint8, m.size*m.size)
	for a := range m.size {
		b := 0
		if a <= int(m.plain) {
			b = int(m.plain) + 1
		}
		if m.plain == 0 {
			b = 0
		}
		for _, digit := range lines[3+a] {
			m.costs[a*m.size+b] = uint8(strings.IndexRune("0123456789abcdefghijklmnopqrstuvwxyz", digit))
			b++
		}
	}
	return m
}

func file(language string) string {
	b, err := data.ReadFile("data/" + language + ".txt")
	if err != nil {
		panic(err) // the file is part of the program
	}
	return string(b)
}

// A class is a kind of character in the languages of East Asia.
type class uint8

const (
	plain class = iota // ASCII
	hiragana
	katakana
	ideograph
	hangul
	sign
	halfwidth
	classes
)

func classOf(r rune) class {
	switch {
	case r < 0x80:
		return plain
	case 0x3041 <= r && r <= 0x309F:
		return hiragana
	case 0x30A1 <= r && r <= 0x30FF:
		return katakana
	case 0x4E00 <= r && r <= 0x9FFF, 0x3400 <= r && r <= 0x4DBF, r == '々':
		return ideograph
	case 0xAC00 <= r && r <= 0xD7A3:
		return hangul
	case 0xFF61 <= r && r <= 0xFF9F:
		return halfwidth
	}
	return sign
}

// characters is the model of a language of East Asia.
type characters struct {
	costs [1 << 16]uint8          // of a character of its class
	after [classes][classes]uint8 // of a class after a class
	pairs map[[2]rune]bool        // that stand together much more often than apart
}

// unseen is the cost of a character that the texts counted did not have;
// unseenSign that of one that is not of the language at all: a Greek letter, an
// arrow.
const (
	unseen     = 38
	unseenSign = 30
)

// readCharacters reads a file: for each class a line with the costs of the next
// class, then lines with a cost and the characters that have it, then the pairs.
func readCharacters(language string) *characters {
	m := &characters{pairs: make(map[[2]rune]bool)}
	for i := range m.costs {
		switch {
		case !unicode.IsGraphic(rune(i)):
			m.costs[i] = unseen + 10
		case classOf(rune(i)) == sign:
			m.costs[i] = unseenSign
		default:
			m.costs[i] = unseen
		}
	}
	for i, line := range strings.Split(strings.TrimSpace(file(language)), "\n") {
		fields := strings.SplitN(line, " ", 2)
		if i < int(classes) {
			for j, cost := range strings.Fields(line) {
				m.after[i][j] = uint8(number(cost))
			}
			continue
		}
		if fields[0] == "pairs" {
			m.readPairs([]rune(fields[1]))
			continue
		}
		for _, r := range fields[1] {
			m.costs[r] = min(m.costs[r], uint8(number(fields[0])))
		}
	}
	return m
}

func (m *characters) readPairs(all []rune) {
	for pair := range slices.Chunk(all, 2) {
		m.pairs[[2]rune(pair)] = true
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return n
}

func (m *characters) cost(r rune) bits {
	if int(r) < len(m.costs) {
		return bits(m.costs[r])
	}
	return unseen + 4
}

// once remembers the models: languages are shared by encodings.
func once[T any](read func(string) T) func(string) T {
	var mu sync.Mutex
	models := make(map[string]T)
	return func(language string) T {
		mu.Lock()
		defer mu.Unlock()
		m, ok := models[language]
		if !ok {
			m = read(language)
			models[language] = m
		}
		return m
	}
}

var (
	lettersOf    = once(readLetters)
	charactersOf = once(readCharacters)
)
