package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// startWait is how long a server may take until it serves.
const startWait = 15 * time.Second

// startHTTP starts a server and, unless it is to fail, waits until it says that
// it serves.
func (s *caseServer) startHTTP(cmd *exec.Cmd, file *os.File, la launchForm) error {
	log := &serverLog{file: file, port: make(chan int32, 1)}
	cmd.Stderr = log
	cmd.WaitDelay = time.Second // not longer for who has inherited its stderr
	if err := s.run(cmd, file); err != nil || la.StartFails {
		return err
	}
	select {
	case port := <-log.port:
		s.port.Store(port)
	case <-s.done:
		return errors.New("the server ended at its start")
	case <-time.After(startWait):
		return fmt.Errorf("the server does not serve after %v", startWait)
	}
	if s.n == 0 {
		s.c.setVar("SPORT", fmt.Sprint(s.port.Load()))
	}
	return nil
}

// address is where the server is reached.
func (s *caseServer) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port.Load()) }

func (c *caseRun) tokenFile() string { return filepath.Join(c.base, "tokens") }

func (c *caseRun) writeTokens(tokens map[string]string) error {
	if len(tokens) == 0 {
		return nil
	}
	var lines []string
	for principal, token := range tokens {
		lines = append(lines, principal+":"+token+"\n")
	}
	slices.Sort(lines)
	if err := putFile(c.tokenFile(), strings.Join(lines, ""), 0o600); err != nil || !c.drop {
		return err
	}
	return giveAway(c.tokenFile())
}

var servingLine = regexp.MustCompile(`(?m)^mcp-tools: serving http://\S+:(\d+)/mcp .*\n`)

// A serverLog keeps what a server writes to stderr, and finds in it where the
// server listens.
type serverLog struct {
	file *os.File
	port chan int32 // gets it once
	text []byte     // until it is found
	done bool
}

func (l *serverLog) Write(p []byte) (int, error) {
	if !l.done {
		l.text = append(l.text, p...)
		l.find()
	}
	return l.file.Write(p)
}

func (l *serverLog) find() {
	m := servingLine.FindSubmatch(l.text)
	if m == nil {
		return
	}
	n, err := strconv.ParseUint(string(m[1]), 10, 16)
	if err != nil {
		return
	}
	l.port <- int32(n)
	l.done, l.text = true, nil
}
