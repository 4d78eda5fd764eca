package server

import (
	"fmt"
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// measure counts calls from now on, and serves the counts in the text format of
// Prometheus. Call it before serving.
func (s *Server) measure(h *HTTP) http.Handler {
	set := metrics.NewSet()
	set.NewGauge("mcp_tools_sessions", func() float64 { return float64(h.sessions.count()) })
	set.NewGauge("mcp_tools_requests_in_flight", func() float64 { return float64(h.loads.calls.count()) })
	set.NewGauge("mcp_tools_jobs", func() float64 {
		if s.env.Shell == nil {
			return 0
		}
		return float64(s.env.Shell.Commands())
	})
	s.observe = func(tool string, failed bool, took time.Duration) {
		labels := fmt.Sprintf("{tool=%q}", tool)
		set.GetOrCreateCounter("mcp_tools_calls_total" + labels).Inc()
		if failed {
			set.GetOrCreateCounter("mcp_tools_call_errors_total" + labels).Inc()
		}
		set.GetOrCreatePrometheusHistogram("mcp_tools_call_duration_seconds" + labels).Update(took.Seconds())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		set.WritePrometheus(w)
		metrics.WriteProcessMetrics(w)
	})
}
