// Package rank finds the tools that a request in words is about.
package rank

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// A Doc is what is known of a tool.
type Doc struct {
	Name, Title, Description string
	Aliases                  []string // other names for it, also those that other programs use
	Params                   []Param
}

// A Param is a parameter of a tool.
type Param struct{ Name, Description string }

// A Hit is a tool that was found.
type Hit struct {
	Doc   int // its place in the list that the index was made of
	Score float64
}

// How much a word counts where it stands, and how much longer texts count less.
const (
	weightName   = 3.0
	weightAlias  = 2.0
	weightText   = 1.0
	weightParams = 0.4

	saturation = 1.2  // BM25's k1
	evening    = 0.75 // BM25's b
	gramLength = 4
	gramShare  = 0.35 // of the score
)

// An Index ranks a list of tools. It does not change; safe for concurrent use.
type Index struct {
	docs   int
	names  map[string][]int32 // exact names in lower case, aliases and bare names too
	words  postings
	grams  postings
	slips  slips
	sheets sheets
}

// A sheet is where the scores of a search are added up.
type sheet struct{ words, grams []float32 }

// sheets keeps the sheets of past searches for the next.
type sheets struct{ sync.Pool }

func (s *sheets) get(docs int) *sheet {
	if old, ok := s.Get().(*sheet); ok {
		clear(old.words)
		clear(old.grams)
		return old
	}
	return &sheet{make([]float32, docs), make([]float32, docs)}
}

// postings are for each term the documents that have it.
type postings map[string]*posting

type posting struct {
	docs    []int32
	weights []float32 // how much the term counts in each
}

// NewIndex makes an index of docs.
func NewIndex(docs []Doc) *Index {
	x := &Index{docs: len(docs), names: make(map[string][]int32), slips: make(slips)}
	byWord, byGram := newCounter(len(docs)), newCounter(len(docs))
	for i, d := range docs {
		for _, name := range append([]string{d.Name, bare(d.Name)}, d.Aliases...) {
			key := strings.ToLower(name)
			if list := x.names[key]; len(list) == 0 || list[len(list)-1] != int32(i) {
				x.names[key] = append(list, int32(i))
			}
		}
		add := func(text string, weight float64) {
			for _, w := range words(text) {
				if asking[w] && weight < weightName {
					continue
				}
				byWord.add(i, stem(w), weight)
				for _, g := range grams(w, gramLength) {
					byGram.add(i, g, weight)
				}
			}
		}
		add(d.Name, weightName)
		for _, w := range words(d.Name + " " + strings.Join(d.Aliases, " ")) {
			x.slips.add(w)
		}
		x.slips.add(strings.ToLower(d.Name))
		for _, g := range grams(strings.ToLower(strings.Join(words(d.Name), "")), gramLength) {
			byGram.add(i, g, weightName/2)
		}
		for _, a := range d.Aliases {
			add(a, weightAlias)
		}
		add(d.Title, weightAlias)
		add(d.Description, weightText)
		for _, p := range d.Params {
			add(p.Name, weightParams)
			add(p.Description, weightParams/2)
		}
	}
	x.words, x.grams = byWord.postings(), byGram.postings()
	x.grams.thin(len(docs))
	return x
}

// bare is a bridged tool's name without its server: search of mcp__github__search.
func bare(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 && strings.HasPrefix(name, "mcp__") {
		return name[i+2:]
	}
	return name
}

// thin takes out what many documents have: it says little, and takes most of the time.
func (p postings) thin(docs int) {
	const few, share = 500, 20
	for term, post := range p {
		if len(post.docs) > max(few, docs/share) {
			delete(p, term)
		}
	}
}

// A counter counts terms in documents.
type counter struct {
	length []float64
	terms  map[string]map[int32]float64
}

func newCounter(n int) *counter {
	return &counter{length: make([]float64, n), terms: make(map[string]map[int32]float64)}
}

func (c *counter) add(doc int, term string, weight float64) {
	m := c.terms[term]
	if m == nil {
		m = make(map[int32]float64)
		c.terms[term] = m
	}
	m[int32(doc)] += weight
	c.length[doc] += weight
}

func (c *counter) postings() postings {
	mean := 0.0
	for _, n := range c.length {
		mean += n
	}
	mean = max(mean/float64(max(len(c.length), 1)), 1e-9)
	out := make(postings, len(c.terms))
	for term, docs := range c.terms {
		p := &posting{docs: make([]int32, 0, len(docs)), weights: make([]float32, 0, len(docs))}
		for doc := range docs {
			p.docs = append(p.docs, doc)
		}
		slices.Sort(p.docs)
		for _, doc := range p.docs {
			tf := docs[doc]
			p.weights = append(p.weights, float32(tf*(saturation+1)/(tf+saturation*(1-evening+evening*c.length[doc]/mean))))
		}
		n, df := float64(len(c.length)), float64(len(docs))
		rarity := float32(math.Log(1 + (n-df+0.5)/(df+0.5)))
		for i := range p.weights {
			p.weights[i] *= rarity
		}
		out[term] = p
	}
	return out
}

// Limits of a request.
const (
	maxQuery     = 64   // words that are looked at
	maxQuerySize = 4096 // bytes
)

// What is below this part of the best score is left out: it has a few letters in
// common, and no more.
const worthwhile = 0.2

// Search gives at most most tools, the best first; those with the same score in the
// order of the list. A tool whose name or alias the request is comes before all
// others. A word that no tool has is taken for a slip of one letter in a name.
func (x *Index) Search(query string, most int) []Hit {
	query = query[:min(len(query), maxQuerySize)]
	asked := x.asked(query)
	sheet := x.sheets.get(x.docs)
	defer x.sheets.Put(sheet)
	scores, other := sheet.words, sheet.grams
	counts, gramCounts := make(map[string]int), make(map[string]int)
	known := false
	for _, w := range asked {
		term := stem(w)
		if x.words[term] == nil {
			if name, ok := x.slips.name(w); ok {
				term = stem(name)
			}
		}
		known = known || x.words[term] != nil
		counts[term]++
		for _, g := range grams(w, gramLength) {
			gramCounts[g]++
		}
	}
	best := x.words.score(scores, counts)
	if known || x.nearAnyWord(asked) {
		bestOther := x.grams.score(other, gramCounts)
		for i := range scores {
			scores[i] = scores[i]/max(best, 1e-9)*(1-gramShare) + other[i]/max(bestOther, 1e-9)*gramShare
		}
	}
	for _, doc := range x.names[strings.ToLower(strings.TrimSpace(query))] {
		scores[doc] += 100
	}
	return top(scores, most)
}

// asked are the words of a request that say what is wanted; all of them if none does.
func (x *Index) asked(query string) []string {
	all := words(query)
	asked := make([]string, 0, len(all))
	for _, w := range all {
		if !asking[w] {
			asked = append(asked, w)
		}
	}
	if len(asked) == 0 {
		asked = all
	}
	return asked[:min(len(asked), maxQuery)]
}

// nearAnyWord tells whether a word of the request has most of its letters in common
// with what there is.
func (x *Index) nearAnyWord(asked []string) bool {
	for _, w := range asked {
		all, have := 0, 0
		for _, g := range grams(w, gramLength) {
			if all++; x.grams[g] != nil {
				have++
			}
		}
		if all > 2 && have*3 >= all*2 {
			return true
		}
	}
	return false
}

// score adds what the terms count in each document, and tells the most of any.
func (p postings) score(scores []float32, terms map[string]int) (best float32) {
	for _, term := range slices.Sorted(maps.Keys(terms)) { // sums of floats depend on their order
		post := p[term]
		if post == nil {
			continue
		}
		w := float32(1 + math.Log(float64(terms[term])))
		for i, doc := range post.docs {
			scores[doc] += w * post.weights[i]
			best = max(best, scores[doc])
		}
	}
	return best
}

// top is the best of the scores.
func top(scores []float32, most int) []Hit {
	best := float32(0)
	for _, s := range scores {
		best = max(best, s)
	}
	if best == 0 {
		return nil
	}
	floor := min(best, 1) * worthwhile // an exact name is above all others, but they count too
	var hits []Hit                     // the best so far, in order
	for doc, s := range scores {
		if s == 0 || s < floor || len(hits) >= most && (most <= 0 || float64(s) <= hits[len(hits)-1].Score) {
			continue
		}
		at, _ := slices.BinarySearchFunc(hits, float64(s), func(h Hit, s float64) int {
			if h.Score >= s {
				return -1
			}
			return 1
		})
		hits = slices.Insert(hits, at, Hit{doc, float64(s)})
		hits = hits[:min(len(hits), most)]
	}
	return hits
}
