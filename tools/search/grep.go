package search

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// countingTime is how long the exact number of further matches is looked for once
// all that is to be shown has been found.
const countingTime = 200 * time.Millisecond

// Grep searches the files of a scope. Links are not followed. What is reported
// depends only on the files, not on timing, but for the counts of a Report that
// is not Exact. Its errors are those of [Walk], [ErrNewline] and [*PatternError];
// a file that cannot be read is counted.
//
// A file is binary if there is a NUL in its first 8 KiB, or before the end of a
// line that matches; of such a file 64 MiB are searched, for one match. UTF-16
// and UTF-32 with a byte order mark are text. Other text that is not UTF-8 is
// searched as it is and shown with U+FFFD.
func Grep(ctx context.Context, s Scope, q Query) (Report, error) {
	workers := max(2, min(runtime.GOMAXPROCS(0), 8))
	return grepper{workers: workers, after: time.After}.run(ctx, s, q.normal())
}

// grepper is Grep with what tests want to choose.
type grepper struct {
	workers int
	after   func(time.Duration) <-chan time.Time
}

// windowed is from how many lines on a file is searched only when all in front
// of it are: then it is known which of its lines are wanted.
const windowed = 5000

func (g grepper) run(ctx context.Context, s Scope, q Query) (Report, error) {
	prog, err := compile(q)
	if err != nil {
		return Report{}, err
	}
	include, exclude, err := s.filters()
	if err != nil {
		return Report{}, err
	}
	if q.Offset > windowed || q.Limit > windowed {
		g.workers = 1
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	run := &grepRun{q: &q, prog: prog, inOrder: g.workers == 1,
		work: make(chan *job, 2*g.workers), order: make(chan *job, 2*g.workers)}
	var wait sync.WaitGroup
	for range g.workers {
		wait.Go(func() { run.worker(within) })
	}
	var skipped Skipped
	wait.Go(func() {
		skipped, err = walk(within, s, include, exclude, func(f File) error { return run.submit(within, f) })
		close(run.work)
		close(run.order)
	})
	out := newReporter(&q)
	cut := run.collect(within, out, stop, g.after)
	wait.Wait()
	report := out.finish(skipped, run.unreadable, !cut && ctx.Err() == nil)
	switch {
	case ctx.Err() != nil:
		return report, ctx.Err()
	case cut:
		return report, nil // err is our own stop
	}
	return report, err
}

// grepRun is one search at work: the walk submits files, workers search them, and
// their results are collected in the order of the walk.
type grepRun struct {
	q           *Query
	prog        *program
	inOrder     bool // there is one worker
	work, order chan *job
	found       atomic.Int64 // matching lines collected: at least that many are in front of what is still to be searched
	unreadable  int          // files that could not be opened; the walk's until it ends
}

// A job is one file to search.
type job struct {
	path   string
	file   io.ReadCloser
	done   chan struct{}
	from   int // the first matching line that was to be kept
	result fileResult
}

func (g *grepRun) submit(ctx context.Context, f File) error {
	if f.Link {
		return nil
	}
	file, _, err := f.Open()
	if err != nil {
		g.unreadable++
		return nil
	}
	j := &job{path: f.Path, file: file, done: make(chan struct{})}
	select {
	case g.order <- j:
	case <-ctx.Done():
		file.Close()
		return ctx.Err()
	}
	g.work <- j // the workers take whatever comes
	return nil
}

func (g *grepRun) worker(ctx context.Context) {
	scan := scanner{prog: g.prog, q: g.q}
	front := 0
	for j := range g.work {
		if !g.inOrder {
			front = int(g.found.Load())
		}
		// With other workers there may be more in front than is known yet. What
		// is then not wanted after all is dropped when it is collected.
		to := max(0, g.q.Offset+g.q.Limit-front)
		if g.inOrder {
			j.from = max(0, g.q.Offset-front)
		}
		if ctx.Err() == nil {
			j.result = scan.scan(ctx, j.path, j.file, j.from, to)
		}
		j.file.Close()
		if g.inOrder {
			front += j.result.matches
		}
		close(j.done)
	}
}

// collect takes the results in order. It reports whether it stopped before the
// end because the time for counting was over.
func (g *grepRun) collect(ctx context.Context, out *reporter, stop func(), after func(time.Duration) <-chan time.Time) (cut bool) {
	var over <-chan time.Time
	expire := func() {
		cut, over = true, nil
		stop()
	}
	for {
		var j *job
		select {
		case j = <-g.order:
		case <-over:
			expire()
			continue
		}
		if j == nil {
			return cut
		}
		select {
		case <-j.done:
		case <-over:
			expire()
			<-j.done
		}
		if ctx.Err() != nil {
			continue // the result may be half of one
		}
		out.add(j)
		g.found.Store(int64(out.found()))
		if over == nil && out.full() {
			over = after(countingTime)
		}
	}
}
