// Package telemetry makes the logger and the metrics registry of a process and serves the private
// listener. Metrics and profiles never share the public port: they would tell strangers how busy
// which application is.
package telemetry

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/time/rate"
)

// NewLogger logs JSON lines to w from the given level up ("debug", "info", "warn", "error";
// anything else is info). Durations are written as configuration has them, such as 1.5s.
func NewLogger(w io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	return slog.New(requestHandler{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l, ReplaceAttr: readable})})
}

func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// Sparse holds lines of one kind, which calls would repeat, to one a second.
type Sparse struct {
	sometimes rate.Sometimes
	held      atomic.Int64
}

// NewSparse returns one that has said nothing yet.
func NewSparse() *Sparse { return &Sparse{sometimes: rate.Sometimes{Interval: time.Second}} }

// Say runs say, or counts: say is told how many lines were held back since the last one.
func (s *Sparse) Say(say func(held int64)) {
	s.held.Add(1)
	s.sometimes.Do(func() { say(s.held.Swap(0) - 1) })
}

// NewRegistry returns a registry with the Go runtime's and the process's own figures.
func NewRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// PrivateHandler serves /metrics and /debug/pprof/ for METRICS_LISTEN.
func PrivateHandler(r *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{Registry: r}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	return mux
}
