package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// maxServed bounds how many programs may be kept running at once.
	maxServed = 64
	// maxServedLine is how much of a line that a program writes to its standard
	// error is told.
	maxServedLine = 4 << 10
)

// A Program is one to be kept running and talked to on its standard streams.
type Program struct {
	Command string // a name to be found in PATH, or a path
	Args    []string
	Dir     string   // to run in; relative commands are of this directory
	Env     []string // beside that of the commands; the last of two counts
	// Log, if set, is told each line that the program writes to its standard error,
	// cut where it is long. It must not block.
	Log func(line string)
}

// Served is a program that runs until it ends, is ended, or its [Shell] is closed;
// then nothing of what it started is left, as far as a Shell can see to that.
type Served struct {
	Stdin  io.WriteCloser
	Stdout io.Reader // must be read, or the program waits
	p      process
	logged chan struct{}
	stop   sync.Once
}

// Serve starts a program. End it, or close the Shell.
func (s *Shell) Serve(c Program) (*Served, error) {
	env := slices.Clip(s.env())
	path, err := findProgram(c.Command, c.Dir, append(env, c.Env...))
	if err != nil {
		return nil, err
	}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		env = setEnv(env, name, value)
	}
	if c.Dir != "" {
		env = setEnv(env, "PWD", c.Dir)
	}
	if err := s.reserve(); err != nil {
		return nil, err
	}
	v, err := s.serve(job{Path: path, Args: append([]string{c.Command}, c.Args...), Dir: c.Dir, Env: env}, c.Log)
	if err != nil {
		s.release(nil)
		return nil, fmt.Errorf("start %s: %w", c.Command, err)
	}
	return v, nil
}

func (s *Shell) serve(j job, log func(string)) (v *Served, err error) {
	var ours, theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
		if err != nil {
			for _, f := range ours {
				_ = f.Close()
			}
		}
	}()
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			r, w = w, r
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	p, err := startProcess(j, childFiles{in: theirs[0], out: theirs[1], err: theirs[2]})
	if err != nil {
		return nil, err
	}
	v = &Served{Stdin: ours[0], Stdout: ours[1], p: p, logged: make(chan struct{})}
	go func() {
		defer close(v.logged)
		tellLines(ours[2], log)
	}()
	if !s.keep(v) {
		v.End()
	}
	go func() {
		<-p.ended()
		v.End() // what it left behind
		<-p.gone()
		s.release(v)
		time.AfterFunc(time.Second, func() { _ = ours[1].Close() }) // what is in the pipe may still be read
	}()
	return v, nil
}

// reserve takes one of the places there are for programs.
func (s *Shell) reserve() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrShellClosed
	case s.places >= maxServed:
		return fmt.Errorf("%d programs are running already", maxServed)
	}
	s.places++
	return nil
}

func (s *Shell) release(v *Served) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places--
	s.served = slices.DeleteFunc(s.served, func(x *Served) bool { return x == v })
}

// keep makes Close end v; false: it has been already.
func (s *Shell) keep(v *Served) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served = append(s.served, v)
	return !s.closed
}

// Ended is closed when the program is no more.
func (v *Served) Ended() <-chan struct{} { return v.p.ended() }

// Logged is closed when the last line of its standard error has been told.
func (v *Served) Logged() <-chan struct{} { return v.logged }

// Gone is closed when nothing of what it started is left either.
func (v *Served) Gone() <-chan struct{} { return v.p.gone() }

// Exit is how the program ended: its code, or -1 and the signal.
func (v *Served) Exit() (code int, signal string) { return v.p.result() }

// End closes the program's standard input, which asks it to end, and ends it soon
// after with all that it started. It returns at once.
func (v *Served) End() {
	v.stop.Do(func() {
		_ = v.Stdin.Close()
		go func() {
			waitFor(v.p.ended(), grace)
			v.p.terminate()
		}()
	})
}

// tellLines reads r to its end.
func tellLines(r io.ReadCloser, log func(string)) {
	defer r.Close()
	if log == nil {
		log = func(string) {}
	}
	b := bufio.NewReaderSize(r, maxServedLine)
	for {
		line, err := b.ReadSlice('\n')
		if text := strings.TrimRight(string(line), "\r\n"); text != "" {
			log(text)
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a long line
			_, err = b.ReadSlice('\n')
		}
		if err != nil {
			return
		}
	}
}

// TempDir is the directory for temporary files of this machine.
func TempDir() string { return os.TempDir() }

// findProgram finds a command as a shell in dir would.
func findProgram(command, dir string, env []string) (string, error) {
	if command == "" || strings.ContainsRune(command, 0) {
		return "", errors.New("the command has no name")
	}
	if filepath.Base(command) != command {
		path := command
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if !executable(path) {
			return "", fmt.Errorf("%s is no program that can be run", command)
		}
		return path, nil
	}
	for _, d := range filepath.SplitList(lookupEnv(env, "PATH")) {
		if path := filepath.Join(d, command); filepath.IsAbs(d) && executable(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s in PATH", command)
}
