package pdf

import (
	"context"
	"errors"
	"fmt"
)

// Reasons for a file that is not read, or not to its end.
var (
	ErrEncrypted = errors.New("it is encrypted")
	ErrBroken    = errors.New("it is broken")
	ErrTooMuch   = errors.New("it takes too much work to read")
)

const (
	// maxSteps is how many tokens (or as costly things) one File may cost:
	// a few seconds. A page of a book has some ten thousand.
	maxSteps = 20_000_000
	// maxDecoded is how many bytes all streams of one File may decode to.
	maxDecoded = 512 << 20
	// maxStream is how many bytes one stream may decode to; the rest is cut.
	maxStream = 24 << 20
	// checkEvery is after how many steps the context is looked at.
	checkEvery = 1 << 12
)

// work counts what a File costs, and stops it by a panic with a stop.
type work struct {
	ctx     context.Context
	most    int64 // steps
	steps   int64
	checked int64
	decoded int64
}

// stop is the panic that ends a call; only [guard] catches it.
type stop struct{ err error }

func (w *work) step(n int) {
	w.steps += int64(n)
	if w.steps-w.checked < checkEvery {
		return
	}
	w.checked = w.steps
	if err := context.Cause(w.ctx); err != nil {
		panic(stop{err})
	}
	if w.steps > w.most {
		panic(stop{ErrTooMuch})
	}
}

// scan pays for looking through n bytes for a byte sequence.
func (w *work) scan(n int) { w.step(1 + n/256) }

// decode pays for n decoded bytes.
func (w *work) decode(n int) {
	w.decoded += int64(n)
	w.step(1 + n/256)
	if w.decoded > maxDecoded {
		panic(stop{ErrTooMuch})
	}
}

// guard turns panics into an error: those that stop the work, and those of
// faults in this package that a nasty file found.
func guard(err *error) {
	switch x := recover().(type) {
	case nil:
	case stop:
		*err = x.err
	default:
		*err = fmt.Errorf("%w (%v)", ErrBroken, x)
	}
}
