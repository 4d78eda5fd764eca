package rank

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var some = []Doc{
	{Name: "multi_edit", Description: "Makes several replacements in one file, all or none.", Aliases: []string{"MultiEdit"}},
	{Name: "notebook_edit", Description: "Replaces, inserts or deletes one cell of a Jupyter notebook.", Aliases: []string{"NotebookEdit"}},
	{Name: "undo", Description: "Takes back a change that a file tool has made.", Params: []Param{{"id", "The change to take back"}}},
	{Name: "shell_kill", Description: "Ends a background job by a signal.", Params: []Param{{"job_id", "The job"}}},
	{Name: "shell_output", Description: "Shows what a background job has written."},
	{Name: "mcp__github__create_issue", Description: "Opens a new issue in a repository.", Params: []Param{{"repo", "owner/name"}, {"title", "Title of the issue"}}},
	{Name: "mcp__github__searchCode", Description: "Finds code in repositories."},
	{Name: "mcp__weather__forecast", Description: "The weather of the next days at a place."},
	{Name: "mcp__cn__搜索文件", Description: "在工作区中搜索文件内容"},
}

func TestSearch(t *testing.T) {
	x := NewIndex(some)
	for _, row := range []struct{ why, query, want string }{
		{"a name", "undo", "undo"},
		{"a name in another case", "Multi_Edit", "multi_edit"},
		{"another program's name", "NotebookEdit", "notebook_edit"},
		{"a bridged name without its server", "create_issue", "mcp__github__create_issue"},
		{"a part of a name", "issue", "mcp__github__create_issue"},
		{"a part of a name in camel case", "search code", "mcp__github__searchCode"},
		{"words of a description", "edit a jupyter cell", "notebook_edit"},
		{"other forms of words", "forecasts", "mcp__weather__forecast"},
		{"a request in a sentence", "Can you please tell me what the weather will be in Paris tomorrow?", "mcp__weather__forecast"},
		{"a parameter", "repo owner", "mcp__github__create_issue"},
		{"a slip of one letter", "notebok", "notebook_edit"},
		{"letters in each other's place", "forceast", "mcp__weather__forecast"},
		{"another letter", "undi", "undo"},
		{"Chinese", "搜索", "mcp__cn__搜索文件"},
	} {
		hits := x.Search(row.query, 3)
		if assert.NotEmpty(t, hits, row.why) {
			assert.Equal(t, row.want, some[hits[0].Doc].Name, row.why)
		}
	}
	for _, query := range []string{"", "  ", "zzzzqqq", "???", "the and of"} {
		assert.Empty(t, x.Search(query, 5), "%q", query)
	}
	assert.Empty(t, NewIndex(nil).Search("x", 5))
	assert.Len(t, x.Search("shell job", 1), 1)
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"readFile":        "read file",
		"HTTPServer2":     "http server2",
		"mcp__a.b-c/d":    "mcp a b c d",
		"don't stop":      "dont stop",
		"Ärger über ÖPNV": "ärger über öpnv",
		"数据库 a":           "数据 据库 a",
		"一":               "一",
		"":                "",
	} {
		assert.Equal(t, want, strings.Join(words(in), " "), in)
	}
	assert.Len(t, words(strings.Repeat("x", 1000)), 16)
}

// manyTools are n tools as servers have them, made up.
func manyTools(n int) []Doc {
	r := rand.New(rand.NewPCG(1, 2))
	verbs := strings.Fields("create list get update delete search send read write run start stop export import merge close open tag move copy")
	things := strings.Fields("issue file page branch message channel user ticket invoice table column row query job build image bucket key secret event task note card board list label comment review release commit")
	var docs []Doc
	for i := range n {
		verb, thing, other := verbs[r.IntN(len(verbs))], things[r.IntN(len(things))], things[r.IntN(len(things))]
		docs = append(docs, Doc{
			Name:        fmt.Sprintf("mcp__server%d__%s_%s_%d", i/40, verb, thing, i),
			Description: fmt.Sprintf("%ss a %s of a %s in workspace %d, and returns its id and its %s.", verb, thing, other, i%97, things[r.IntN(len(things))]),
			Params:      []Param{{thing + "_id", "The " + thing}, {"limit", "At most so many"}},
		})
	}
	return docs
}

func TestNamesComeFirst(t *testing.T) {
	docs := manyTools(500)
	x := NewIndex(docs)
	r := rand.New(rand.NewPCG(3, 4))
	for i, d := range docs {
		require.Equal(t, i, x.Search(d.Name, 1)[0].Doc, "its name")
		require.Equal(t, i, x.Search(strings.ToUpper(bare(d.Name)), 1)[0].Doc, "its name without the server")
		name := []rune(bare(d.Name))
		at := r.IntN(len(name))
		slip := string(slices.Delete(slices.Clone(name), at, at+1))
		found := slices.ContainsFunc(x.Search(slip, 10), func(h Hit) bool { return h.Doc == i })
		require.True(t, found || strings.ContainsAny(string(name[at]), "0123456789_"), "%s for %s", slip, d.Name)
	}
	one, two := x.Search("create a ticket", 20), NewIndex(docs).Search("create a ticket", 20)
	require.Equal(t, one, two, "the same each time")
	require.True(t, slices.IsSortedFunc(one, func(a, b Hit) int {
		if a.Score != b.Score {
			return int(1e6 * (b.Score - a.Score))
		}
		return a.Doc - b.Doc
	}))
}

func FuzzSearch(f *testing.F) {
	x := NewIndex(append(manyTools(50), some...))
	for _, s := range []string{"create issue", "undo", "数据库", "\xff\xfe", strings.Repeat("a b ", 5000), "don’t", "+", "select:a"} {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, query string, most int) {
		hits := x.Search(query, max(most, 0)%20)
		if len(hits) > max(most, 0)%20 {
			t.Fatal(len(hits))
		}
		for i := 1; i < len(hits); i++ {
			if hits[i].Score > hits[i-1].Score || hits[i].Score <= 0 {
				t.Fatalf("%+v", hits)
			}
		}
	})
}

func BenchmarkSearch10000(b *testing.B) {
	docs := manyTools(10_000)
	begin := time.Now()
	x := NewIndex(docs)
	b.ReportMetric(float64(time.Since(begin).Milliseconds()), "ms/index")
	queries := []string{"create an issue", "how do I delete a branch of my repository?", "send_message", "list all builds that failed in the last week and their comments", "invoise"}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		t := time.Now()
		x.Search(queries[i%len(queries)], 5)
		took = append(took, time.Since(t))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs/median")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs/p99")
}
