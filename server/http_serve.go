package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"mcp-tools/tools"
)

const (
	// headerWait is how long a client may take to send its headers, and idleWait
	// how long a connection may be unused.
	headerWait = 10 * time.Second
	idleWait   = 2 * time.Minute
	// maxStreams is how many requests of one HTTP/2 connection are in work.
	maxStreams = 128
	// maxHeaders is the size of all headers of a request in bytes.
	maxHeaders = 64 << 10
	// finishWait is how long requests may go on once we are told to stop, and
	// flushWait how long their answers may take to be sent. With killGrace all of it
	// is less than ten seconds.
	finishWait = 3 * time.Second
	flushWait  = 3 * time.Second
)

// Serve answers the clients that come in by l until ctx is done, and closes l.
//
// Then nothing new is taken; what runs has three seconds to end by itself and is
// then cancelled with its children, and all answers are delivered, as far as
// clients read them. It returns nil if it was told to stop and all went well.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error {
	defer h.cancel(tools.ErrStopping)
	hs := &http.Server{
		Handler:           h,
		TLSConfig:         h.opts.TLS,
		ReadHeaderTimeout: headerWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    maxHeaders,
		ConnState:         h.conns.state,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: writeWait},
		// Else "OPTIONS *" would be answered without asking the guard.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(h.srv.log.Handler(), slog.LevelInfo),
	}
	failed := make(chan error, 1)
	go func() {
		l := h.conns.limit(l)
		if hs.TLSConfig != nil {
			failed <- hs.ServeTLS(l, "", "")
			return
		}
		failed <- hs.Serve(l)
	}()
	go h.sessions.sweeping(h.base)
	select {
	case err := <-failed:
		_ = hs.Close()
		return err
	case <-ctx.Done():
	}
	return h.stop(hs)
}

// stop is the graceful end.
func (h *HTTP) stop(hs *http.Server) error {
	h.loads.close()
	h.endStreams()
	ctx, cancel := context.WithTimeout(context.Background(), finishWait+killGrace+flushWait)
	defer cancel()
	flushed := make(chan error, 1)
	go func() { flushed <- hs.Shutdown(ctx) }()

	idle := h.loads.calls.idle()
	stuck := !within(idle, finishWait)
	if stuck {
		h.cancel(tools.ErrStopping)
		stuck = !within(idle, killGrace)
	}
	err := <-flushed
	_ = hs.Close()
	switch {
	case stuck:
		h.srv.log.Warn("calls go on after they were cancelled")
		return errStuck
	case errors.Is(err, context.DeadlineExceeded):
		h.srv.log.Info("not all answers were read by their clients in time")
		return nil
	}
	return err
}

// endStreams ends what would go on until its client ends it.
func (h *HTTP) endStreams() {
	h.sessions.each(func(c *session) {
		c.feed.close()
		c.endEndless()
	})
	h.listening.Range(func(p, _ any) bool {
		p.(*peer).endEndless()
		return true
	})
}

// within says whether done is closed in time.
func within(done <-chan struct{}, wait time.Duration) bool {
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-done:
		return true
	case <-late.C:
		return false
	}
}
