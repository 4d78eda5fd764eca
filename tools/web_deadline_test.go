package tools

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/tools/fetch"
)

// The time of a call, and its cancellation, hold for what is made of a page too.
func TestTheConversionEndsWithTheCall(t *testing.T) {
	base, err := url.Parse("http://127.0.0.1/")
	require.NoError(t, err)
	res := &fetch.Response{URL: base, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(strings.Repeat("<p>words <b>and</b> more</p>", 300_000)), Time: time.Now()}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = converted(ctx, res, "markdown")
	assert.ErrorIs(t, err, context.Canceled)
	p, err := converted(t.Context(), res, "markdown")
	require.NoError(t, err)
	assert.Contains(t, p.text, "words **and** more")
}
