package gateway

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/traces"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
)

// traced is a gateway that begins a trace for ratio of the calls without one.
func traced(t *testing.T, ratio float64) func(*Config) {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	endpoint, err := url.Parse(collector.URL)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) {
		c.Traces = traces.New(traces.Config{Endpoint: endpoint, Ratio: ratio, Logger: c.Logger, Registry: prometheus.NewRegistry()})
		t.Cleanup(func() {
			_ = c.Traces.Close(t.Context())
			collector.Close()
		})
	}
}

func TestWithoutTracingTraceparentIsAHeaderAsAnyOther(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	r.ask(post("/gateway/v1?model=m", goodKey, "{}", "TraceParent: 00-"+traceID+"-"+spanID+"-01", "tracestate: a=b"))
	record, got := r.record(), r.next()
	if record.Trace != [16]byte{} {
		t.Errorf("recorded under the trace %x", record.Trace)
	}
	for _, line := range []string{"TraceParent: 00-" + traceID + "-" + spanID + "-01", "tracestate: a=b"} {
		if !slices.Contains(got.headers, line) {
			t.Errorf("%q is not among %q", line, got.headers)
		}
	}
}

// TestATraceGoesOnThroughTheGateway: what the upstream is told, and what is recorded, for each
// traceparent of a caller.
func TestATraceGoesOnThroughTheGateway(t *testing.T) {
	for name, c := range map[string]struct {
		sent    []string
		ratio   float64
		inTrace bool // the caller's
		own     bool // the upstream is told a span of ours
	}{
		"sampled":             {sent: []string{"traceparent: 00-" + traceID + "-" + spanID + "-01"}, inTrace: true, own: true},
		"not sampled":         {sent: []string{"traceparent: 00-" + traceID + "-" + spanID + "-00"}, ratio: 1, inTrace: true},
		"none":                {},
		"none, ours begins":   {ratio: 1, own: true},
		"malformed":           {sent: []string{"traceparent: 00-" + traceID}},
		"malformed, replaced": {sent: []string{"traceparent: 00-" + traceID}, ratio: 1, own: true},
		"two":                 {sent: []string{"traceparent: 00-" + traceID + "-" + spanID + "-01", "Traceparent: 00-" + spanID + spanID + "-" + spanID + "-01"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, answers(okAnswer), traced(t, c.ratio))
			r.ask(post("/gateway/v1?model=m", goodKey, "{}", append(c.sent, "tracestate: a=b")...))
			record, got := r.record(), r.next()
			told := got.header("traceparent")
			if !slices.Equal(got.header("tracestate"), []string{"a=b"}) {
				t.Errorf("tracestate %q", got.header("tracestate"))
			}
			recorded := hex.EncodeToString(record.Trace[:])
			if (recorded == traceID) != c.inTrace {
				t.Errorf("recorded under %s", recorded)
			}
			if !c.own {
				if len(told) != len(c.sent) || len(told) > 0 && !strings.HasSuffix(c.sent[0], told[0]) {
					t.Errorf("the upstream was told %q", told)
				}
				return
			}
			if len(told) != 1 || !strings.HasPrefix(told[0], "00-"+recorded+"-") || !strings.HasSuffix(told[0], "-01") || strings.Contains(told[0], spanID) {
				t.Errorf("the upstream was told %q of the trace %s", told, recorded)
			}
		})
	}
}
