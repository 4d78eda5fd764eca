package rank

import (
	"bufio"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var metaTool = flag.String("metatool", "", "folder with tools.json and queries.jsonl of MetaTool (Huang et al., ICLR 2024)")

// BenchmarkMetaTool measures the ranking on questions of people. Nothing here was
// fitted to the second half, which is reported apart.
func BenchmarkMetaTool(b *testing.B) {
	if *metaTool == "" {
		b.Skip("the data is not part of the repository: -metatool DIR says where it is")
	}
	var docs []Doc
	raw, err := os.ReadFile(filepath.Join(*metaTool, "tools.json"))
	require.NoError(b, err)
	require.NoError(b, json.Unmarshal(raw, &docs))
	place := map[string]int{}
	for i, d := range docs {
		place[d.Name] = i
	}
	f, err := os.Open(filepath.Join(*metaTool, "queries.jsonl"))
	require.NoError(b, err)
	defer f.Close()
	type question struct{ Query, Tool string }
	var questions []question
	for s := bufio.NewScanner(f); s.Scan(); {
		var q question
		require.NoError(b, json.Unmarshal(s.Bytes(), &q))
		questions = append(questions, q)
	}
	x := NewIndex(docs)
	for b.Loop() {
		var gain, at5, at1 [2]float64
		for i, q := range questions {
			for rank, hit := range x.Search(q.Query, 10) {
				if hit.Doc != place[q.Tool] {
					continue
				}
				gain[i%2] += 1 / math.Log2(float64(rank+2))
				if rank < 5 {
					at5[i%2]++
				}
				if rank == 0 {
					at1[i%2]++
				}
			}
		}
		n := float64(len(questions)) / 2
		b.ReportMetric(gain[0]/n, "nDCG@10/first")
		b.ReportMetric(gain[1]/n, "nDCG@10/second")
		b.ReportMetric((gain[0]+gain[1])/n/2, "nDCG@10")
		b.ReportMetric((at5[0]+at5[1])/n/2, "R@5")
		b.ReportMetric((at1[0]+at1[1])/n/2, "R@1")
	}
}
