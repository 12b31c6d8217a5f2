package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/calls"
)

// metrics count what the gateway does; one counter per reason. No label carries what a caller sent.
type metrics struct {
	outcomes map[calls.ReasonCode]prometheus.Counter // filled once, read only
	refused  *prometheus.CounterVec                  // not attributed to an application
	duration prometheus.Histogram
	first    prometheus.Histogram
	retries  prometheus.Counter

	failovers, failoversRefused prometheus.Counter                      // another upstream was tried, or not for want of budget
	attempts                    *prometheus.CounterVec                  // at named upstreams
	usage                       map[calls.UsageState]prometheus.Counter // filled once, read only
}

// reasons are all reason codes; the empty one is success.
var reasons = append([]calls.ReasonCode{""}, calls.ReasonCodes...)

// usageStates are those of calls whose tokens are collected.
var usageStates = []calls.UsageState{calls.UsageNone, calls.UsageReported, calls.UsagePartial, calls.UsageAbsent, calls.UsageDeferred, calls.UsageRepeated, calls.UsageUnreadable}

func newMetrics(registry prometheus.Registerer, g *Gateway) *metrics {
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 1800}
	total := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "callgate_gateway_calls_total", Help: "Attributed calls by how they ended: success or a reason code."}, []string{"outcome"})
	usage := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "callgate_gateway_usage_total", Help: "Attributed calls by what their answers report of tokens."}, []string{"state"})
	m := &metrics{
		outcomes: map[calls.ReasonCode]prometheus.Counter{},
		usage:    map[calls.UsageState]prometheus.Counter{},
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "callgate_gateway_refused_total", Help: "Requests refused before they could be attributed, by error code."}, []string{"code"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "callgate_gateway_call_seconds", Help: "Duration of attributed calls, transfer included.", Buckets: buckets}),
		first: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "callgate_gateway_first_byte_seconds", Help: "Time until the upstream's response began.", Buckets: buckets}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "callgate_gateway_upstream_retries_total", Help: "Requests sent again because a kept connection had been closed."}),
	}
	failovers := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "callgate_gateway_upstream_failovers_total", Help: "Calls that another upstream of their capability could take: made, or refused because too many were."}, []string{"result"})
	m.failovers, m.failoversRefused = failovers.WithLabelValues("made"), failovers.WithLabelValues("refused")
	m.attempts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "callgate_gateway_upstream_attempts_total", Help: "Attempts at named upstreams, by upstream, and how often they failed: no connection, no answer, a cut answer or 5xx."}, []string{"upstream", "result"})
	for _, code := range reasons {
		label := string(code)
		if code == "" {
			label = "success"
		}
		m.outcomes[code] = total.WithLabelValues(label)
	}
	for _, state := range usageStates {
		m.usage[state] = usage.WithLabelValues(string(state))
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	connections := func(pick func(open, idle int) int) func() float64 {
		return func() float64 {
			sum := 0
			g.upstreams.each(func(p *connPool) { sum += pick(p.count()) })
			return float64(sum)
		}
	}
	registry.MustRegister(total, usage, m.refused, m.duration, m.first, m.retries, failovers, m.attempts, breakers{g},
		gauge("callgate_gateway_in_flight", "Attributed calls in flight.", func() float64 { return float64(g.supervisor.len()) }),
		gauge("callgate_gateway_in_flight_bytes", "Bytes reserved for kept request bodies.", func() float64 { return float64(g.shares.bytes.used.Load()) }),
		gauge("callgate_gateway_watched_callers", "Sockets of callers watched during silence.", func() float64 { return float64(g.supervisor.watcher.count()) }),
		gauge("callgate_gateway_upstream_connections", "Connections to upstreams.", connections(func(open, _ int) int { return open })),
		gauge("callgate_gateway_upstream_connections_idle", "Connections to upstreams kept for reuse.", connections(func(_, idle int) int { return idle })),
	)
	return m
}

// endpoint returns a named upstream that nothing is known of yet.
func (m *metrics) endpoint(id string) *endpoint {
	return &endpoint{id: id, answered: m.attempts.WithLabelValues(id, "answered"), failed: m.attempts.WithLabelValues(id, "failed")}
}

// breakers tells the state of every breaker.
type breakers struct{ gateway *Gateway }

var breakerState = prometheus.NewDesc("callgate_gateway_upstream_breaker",
	"State of the breaker of a named upstream: 0 closed, 1 one call tries, 2 open.", []string{"upstream"}, nil)

// Describe implements prometheus.Collector.
func (b breakers) Describe(described chan<- *prometheus.Desc) { described <- breakerState }

// Collect implements prometheus.Collector.
func (b breakers) Collect(metrics chan<- prometheus.Metric) {
	values := map[string]float64{"closed": 0, "probing": 1, "open": 2}
	for id, e := range *b.gateway.endpoints.known.Load() {
		metrics <- prometheus.MustNewConstMetric(breakerState, prometheus.GaugeValue, values[e.breaker.state()], id)
	}
}

func (m *metrics) ended(r *calls.Record) {
	m.outcomes[r.ReasonCode].Inc()
	m.duration.Observe(r.Duration.Seconds())
	if counter := m.usage[r.Usage.State]; counter != nil { // collected
		counter.Inc()
	}
	if r.FirstByte >= 0 {
		m.first.Observe(r.FirstByte.Seconds())
	}
}
