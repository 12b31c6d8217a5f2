package telemetry

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/calls"
)

// CallsLogged says of which calls there is a line.
type CallsLogged string

// The values of CallsLogged (CALL_LOG).
const (
	NoCalls     CallsLogged = "off"
	FailedCalls CallsLogged = "failures"
	AllCalls    CallsLogged = "all"
)

// callQueue bounds the calls that wait to be written; about 3 MB.
const callQueue = 8192

// CallLog writes a JSON line for each call, with its id: what its record says, and no body, path, query or
// key. The call path hands over a copy; lines that cannot be written as fast as calls end are dropped and
// counted. A nil CallLog writes none.
type CallLog struct {
	which   CallsLogged
	log     *slog.Logger
	queue   chan calls.Record
	stop    chan struct{}
	ended   chan struct{}
	once    sync.Once
	dropped prometheus.Counter
}

// NewCallLog writes to w; nil for NoCalls. Close ends it.
func NewCallLog(w io.Writer, which CallsLogged, registry prometheus.Registerer) *CallLog {
	if which == NoCalls {
		return nil
	}
	l := &CallLog{
		which: which, log: slog.New(slog.NewJSONHandler(w, nil)),
		queue: make(chan calls.Record, callQueue), stop: make(chan struct{}), ended: make(chan struct{}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "callgate_call_log_dropped_total", Help: "Lines of CALL_LOG that were not written because calls ended faster.",
		}),
	}
	registry.MustRegister(l.dropped)
	go l.run()
	return l
}

// Add notes a call whose record is complete. It never blocks and keeps nothing of r.
func (l *CallLog) Add(r *calls.Record) {
	if l == nil || l.which == FailedCalls && r.Success {
		return
	}
	copied := *r
	copied.Failure, copied.Unredacted = nil, nil
	select {
	case l.queue <- copied:
	default:
		l.dropped.Inc()
	}
}

// Close writes what is queued. What Add gets after it is not written.
func (l *CallLog) Close() {
	if l == nil {
		return
	}
	l.once.Do(func() { close(l.stop) })
	<-l.ended
}

func (l *CallLog) run() {
	defer close(l.ended)
	for {
		select {
		case r := <-l.queue:
			l.write(&r)
		case <-l.stop:
			for len(l.queue) > 0 {
				r := <-l.queue
				l.write(&r)
			}
			return
		}
	}
}

func (l *CallLog) write(r *calls.Record) {
	attrs := []slog.Attr{
		slog.String("callId", r.CallID.String()), slog.String("applicationId", r.ApplicationID.String()), slog.String("model", r.Model),
		slog.Time("startTime", r.Start), slog.Int("statusCode", r.StatusCode), slog.Bool("success", r.Success), slog.Bool("streamed", r.Streamed),
		slog.Int64("durationMs", r.Duration.Milliseconds()), slog.String("endedBy", string(r.EndedBy)),
		slog.Int64("requestBytes", r.RequestBytes), slog.Int64("responseBytes", r.ResponseBytes),
	}
	if r.FirstByte >= 0 {
		attrs = append(attrs, slog.Int64("firstByteMs", r.FirstByte.Milliseconds()))
	}
	if !r.Success {
		attrs = append(attrs, slog.String("reasonType", string(r.ReasonType)), slog.String("reasonCode", string(r.ReasonCode)), slog.Int("upstreamStatus", r.UpstreamCode))
	}
	for i, name := range [...]string{"inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens"} {
		if n, known := r.Usage.Number(calls.AllUsageFields[i]); known {
			attrs = append(attrs, slog.Int64(name, int64(n)))
		}
	}
	if r.Usage.State != calls.UsageNotCollected && r.Usage.State != calls.UsageNone {
		attrs = append(attrs, slog.String("usageState", string(r.Usage.State)), slog.String("upstreamModel", r.Usage.Model))
	}
	if r.Attempts > 0 {
		attrs = append(attrs, slog.String("upstreamId", r.UpstreamID), slog.Int("attempts", r.Attempts))
	}
	if f := &r.FailedAttempt; f.UpstreamID != "" {
		attrs = append(attrs, slog.String("failedUpstreamId", f.UpstreamID), slog.Int("failedStatus", f.Status),
			slog.Int64("failedMs", f.Duration.Milliseconds()), slog.String("failedReason", string(f.Reason)))
	}
	if trace := r.Trace.String(); trace != "" {
		attrs = append(attrs, slog.String("traceId", trace))
	}
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "call", 0)
	line.AddAttrs(attrs...)
	_ = l.log.Handler().Handle(context.Background(), line) // whoever reads the log is gone: no call suffers
}
