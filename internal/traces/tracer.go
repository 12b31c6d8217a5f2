// Package traces makes a call a span of its caller's trace and tells an OpenTelemetry collector
// (OTLP over HTTP). It knows what the call's record knows and no content: no body, query, header, key
// or address of an upstream. The call path parses one header and hands over one value; the rest happens
// beside it, in bounded memory, and what a collector cannot take is dropped and counted.
package traces

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/calls"
)

// Config says where spans go.
type Config struct {
	Endpoint *url.URL    // OTLP/HTTP; spans are posted to its path + /v1/traces
	Headers  http.Header // sent with each request, such as a collector's credential
	// Ratio of the calls without a traceparent that begin a trace, 0 to 1. A caller's own trace is
	// joined when it says that it is sampled.
	Ratio    float64
	Version  string // of the product
	Instance string // which of its processes

	Logger   *slog.Logger
	Registry prometheus.Registerer
}

const (
	queueSpans   = 8192 // that wait to be sent; about 3 MB
	batchSpans   = 512
	batchEvery   = time.Second
	sendTimeout  = 10 * time.Second
	sendAttempts = 4
)

// Tracer traces the calls of one process. A nil Tracer traces none.
type Tracer struct {
	config  Config
	client  *http.Client
	queue   chan span
	stop    chan struct{} // closed: what is queued is sent, then run ends
	ended   chan struct{}
	once    sync.Once
	cancel  context.CancelFunc // of what is being sent
	context context.Context
	metrics metrics
	failing bool // said in the log; run's own
}

type metrics struct{ exported, dropped, failed prometheus.Counter }

// New returns a Tracer; Close ends it.
func New(config Config) *Tracer {
	t := &Tracer{
		config: config,
		client: &http.Client{Timeout: sendTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		queue:  make(chan span, queueSpans),
		stop:   make(chan struct{}), ended: make(chan struct{}),
	}
	t.context, t.cancel = context.WithCancel(context.Background())
	spans := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "callgate_trace_spans_total",
		Help: "Spans of sampled calls: exported to the collector, dropped because the queue was full, failed because the collector did not take them.",
	}, []string{"result"})
	config.Registry.MustRegister(spans)
	t.metrics = metrics{spans.WithLabelValues("exported"), spans.WithLabelValues("dropped"), spans.WithLabelValues("failed")}
	go t.run()
	return t
}

// Begin gives a call its place: in its caller's trace when traceparent names one, else in a new
// one or in none. It does not allocate.
func (t *Tracer) Begin(traceparent []byte) Context {
	if len(traceparent) > 0 {
		if c, sampled, ok := parse(traceparent); ok {
			if sampled {
				c.Span = newSpan()
			}
			return c
		}
	}
	return begun(t.config.Ratio)
}

// End hands over the span of a sampled call whose record is complete. method and path are the
// request's; path says which operation it was and is not kept. It never blocks and keeps nothing of
// its arguments.
func (t *Tracer) End(c Context, r *calls.Record, method string, path []byte) {
	operation, provider := operationOf(path)
	select {
	case t.queue <- spanOf(c, r, method, operation, provider):
	default:
		t.metrics.dropped.Inc()
	}
}

// Close sends what is queued, until ctx is done. What End gets after it is not sent.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.once.Do(func() { close(t.stop) })
	defer t.cancel()
	select {
	case <-t.ended:
		return nil
	case <-ctx.Done():
		t.cancel()
		<-t.ended
		return ctx.Err()
	}
}

// run gathers spans and sends them, a batch when it is full or a second old.
func (t *Tracer) run() {
	defer close(t.ended)
	batch := make([]span, 0, batchSpans)
	ticker := time.NewTicker(batchEvery)
	defer ticker.Stop()
	for {
		select {
		case s := <-t.queue:
			if batch = append(batch, s); len(batch) == batchSpans {
				batch = t.send(batch)
			}
		case <-ticker.C:
			batch = t.send(batch)
		case <-t.stop:
			for len(t.queue) > 0 {
				if batch = append(batch, <-t.queue); len(batch) == batchSpans {
					batch = t.send(batch)
				}
			}
			t.send(batch)
			return
		}
	}
}

func put(to []byte, n uint64) { binary.BigEndian.PutUint64(to, n) }
