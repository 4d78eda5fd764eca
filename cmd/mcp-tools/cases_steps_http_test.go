package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	httpTimeout = 10 * time.Second
	rawTimeout  = 8 * time.Second
	// maxHTTPText is how much of an answer is kept that no client reads.
	maxHTTPText = 200_000
)

func (c *caseRun) doHTTP(s *stepForm, label string) error {
	srv, err := c.server(0)
	if err != nil {
		return err
	}
	start := time.Now()
	var a answer
	for range max(s.Repeat, 1) {
		req, err := c.httpRequest(s.HTTP, srv)
		if err != nil {
			return err
		}
		a = exchange(req)
		a.seconds = time.Since(start).Seconds()
		c.put(label, a, sentBy{})
	}
	return c.save(s, a)
}

func (c *caseRun) httpRequest(h *httpForm, srv *caseServer) (*http.Request, error) {
	header := http.Header{}
	if h.As != nil {
		cl, err := c.client(*h.As)
		if err != nil {
			return nil, err
		}
		var m map[string]any
		_ = json.Unmarshal(h.Body, &m) // what is no message has no method to tell of
		header = cl.link.(*httpLink).header(m)
	}
	url := "http://" + srv.address() + cmp.Or(h.Path, "/mcp")
	req, err := http.NewRequest(cmp.Or(h.Method, http.MethodPost), url, h.content())
	if err != nil {
		return nil, err
	}
	for k, v := range h.Headers {
		header.Del(k)
		if v != nil {
			header.Set(k, *v)
		}
	}
	req.Host = header.Get("Host")
	req.Header = header
	return req, nil
}

// content is the body of the request; nil: none.
func (h *httpForm) content() io.Reader {
	if r := h.BodyRepeat; r != nil {
		return strings.NewReader(r.head + strings.Repeat(r.text, r.n) + r.tail)
	}
	if h.Body == nil {
		return nil
	}
	var text string
	if json.Unmarshal(h.Body, &text) == nil {
		return strings.NewReader(text)
	}
	return bytes.NewReader(h.Body)
}

// exchange sends a request; its answer is text, whatever it is.
func exchange(req *http.Request) answer {
	ctx, cancel := context.WithTimeout(context.Background(), httpTimeout)
	defer cancel()
	resp, err := newTransport().RoundTrip(req.WithContext(ctx))
	if err != nil {
		return unanswered(ctx, err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(io.LimitReader(resp.Body, maxHTTPText))
	var text []byte
	if isStream(resp) {
		text, err = nextEvent(body) // it may never end
	} else {
		text, err = io.ReadAll(body)
	}
	a := answer{result: textResult(string(text)), status: resp.StatusCode, header: resp.Header}
	if err != nil {
		a.fault = fmt.Sprintf("status %d, then %v", a.status, err)
	}
	return a
}

// doRawHTTP writes to a connection of its own and reads the first line that comes.
func (c *caseRun) doRawHTTP(s *stepForm, label string) error {
	srv, err := c.server(0)
	if err != nil {
		return err
	}
	start := time.Now()
	conn, err := net.DialTimeout("tcp", srv.address(), httpTimeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, part := range s.RawHTTP.Send {
		if !writePart(conn, part) {
			break // the server may refuse before it has all
		}
	}
	wait := rawTimeout
	if s.RawHTTP.TimeoutS > 0 {
		wait = seconds(s.RawHTTP.TimeoutS)
	}
	conn.SetReadDeadline(time.Now().Add(wait))
	line, _ := bufio.NewReader(io.LimitReader(conn, maxHTTPText)).ReadString('\n')
	c.put(label, answer{result: textResult(line), status: statusOf(line), seconds: time.Since(start).Seconds()}, sentBy{})
	return nil
}

// writePart writes a text, or waits.
func writePart(conn net.Conn, part any) bool {
	if n, ok := part.(json.Number); ok {
		pause, _ := n.Float64()
		time.Sleep(seconds(pause))
		return true
	}
	conn.SetWriteDeadline(time.Now().Add(httpTimeout))
	_, err := io.WriteString(conn, part.(string))
	return err == nil
}

var statusLine = regexp.MustCompile(`^HTTP/1\.\d (\d{3}) `)

// statusOf is 0 for what is no status line.
func statusOf(line string) int {
	m := statusLine.FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func (c *caseRun) doDelete(s *stepForm, label string) error {
	cl, err := c.client(*s.Delete)
	if err != nil {
		return err
	}
	a := cl.link.(*httpLink).end()
	c.put(label, a, sentBy{})
	if a.protocolError() {
		return fmt.Errorf("the session was not ended: %s", a.text())
	}
	return nil
}

// doForget makes the session begin anew when it is next used.
func (c *caseRun) doForget(s *stepForm, _ string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.clients, *s.Forget)
	return nil
}
