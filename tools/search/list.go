package search

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"strings"

	"mcp-tools/sandbox"
)

// Sort is the order of a listing.
type Sort int

const (
	SortPath  Sort = iota // by path, component by component
	SortMtime             // newest first, then by path
	SortSize              // largest first, then by path
)

// Limits of a listing: how many files if the query does not say, and how many
// may be held to sort them.
const (
	DefaultListLimit = 200
	maxListed        = 2_000_000
)

// A ListQuery says which files of a scope to list.
type ListQuery struct {
	Pattern string // glob on the path below Base; "" is "**"
	Sort    Sort
	Offset  int // files to leave out from the beginning
	Limit   int // at most that many; 0 is DefaultListLimit
}

// A Listed is one file of a listing. Info is filled only when it was sorted by.
type Listed struct {
	Path string // slash path below the root
	Link bool
	Info sandbox.Info
}

// A Listing is the answer to a ListQuery.
type Listing struct {
	Files []Listed
	Total int // all that matched; those after the files shown: Total - Offset - len(Files)
	Skipped
}

// List lists the files of a scope that match a pattern and, if there are such,
// one of s.Include. Memory is bounded by Offset + Limit; together they count for
// at most 2,000,000. Errors are those of [Walk]; a bad pattern is a [*GlobError].
func List(ctx context.Context, s Scope, q ListQuery) (Listing, error) {
	if q.Pattern == "" {
		q.Pattern = "**"
	}
	pattern, err := compileGlobs([]string{q.Pattern}, wholePath)
	if err != nil {
		return Listing{}, err
	}
	include, exclude, err := s.filters()
	if err != nil {
		return Listing{}, err
	}
	prefix := s.prefix()
	c := newCollector(q)
	skipped, err := walk(ctx, s, pattern, exclude, func(f File) error {
		if below, ok := strings.CutPrefix(f.Path, prefix); ok && include != nil && !include.matchPath(below, anyName) {
			return nil
		}
		return c.add(f)
	})
	if err != nil {
		return Listing{}, err
	}
	out := c.listing()
	out.Skipped = skipped
	return out, nil
}

// collector keeps the first offset+limit files in the order asked for.
type collector struct {
	q     ListQuery
	keep  int
	total int
	files ranking
}

func newCollector(q ListQuery) *collector {
	if q.Limit <= 0 {
		q.Limit = DefaultListLimit
	}
	q.Offset = min(max(q.Offset, 0), maxListed)
	return &collector{q: q, keep: min(q.Offset+min(q.Limit, maxListed), maxListed), files: ranking{order: q.Sort}}
}

func (c *collector) add(f File) error {
	entry := ranked{Listed{Path: f.Path, Link: f.Link}, c.total}
	if c.q.Sort == SortPath {
		if c.total >= c.q.Offset && c.total < c.keep {
			c.files.list = append(c.files.list, entry)
		}
		c.total++
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil // gone since the folder was read
	}
	entry.Info = info
	heap.Push(&c.files, entry)
	if c.total++; c.files.Len() > c.keep {
		heap.Pop(&c.files)
	}
	return nil
}

func (c *collector) listing() Listing {
	list := c.files.list
	if c.q.Sort != SortPath {
		slices.SortFunc(list, c.files.compare)
		list = list[min(c.q.Offset, len(list)):]
	}
	out := Listing{Total: c.total}
	for _, r := range list {
		out.Files = append(out.Files, r.Listed)
	}
	return out
}

// ranked is a file and its place in the order of paths.
type ranked struct {
	Listed
	place int
}

// ranking is a heap whose top is the file that comes last.
type ranking struct {
	order Sort
	list  []ranked
}

func (r *ranking) compare(a, b ranked) int {
	var c int
	switch r.order {
	case SortMtime:
		c = b.Info.ModTime.Compare(a.Info.ModTime)
	case SortSize:
		c = cmp.Compare(b.Info.Size, a.Info.Size)
	}
	return cmp.Or(c, cmp.Compare(a.place, b.place))
}

func (r *ranking) Len() int           { return len(r.list) }
func (r *ranking) Less(i, j int) bool { return r.compare(r.list[i], r.list[j]) > 0 }
func (r *ranking) Swap(i, j int)      { r.list[i], r.list[j] = r.list[j], r.list[i] }
func (r *ranking) Push(x any)         { r.list = append(r.list, x.(ranked)) }
func (r *ranking) Pop() any {
	last := r.list[len(r.list)-1]
	r.list = r.list[:len(r.list)-1]
	return last
}
