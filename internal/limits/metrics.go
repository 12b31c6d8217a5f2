package limits

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	refused    *prometheus.CounterVec
	exchanges  *prometheus.CounterVec
	estimated  prometheus.Counter
	readErrors prometheus.Counter
}

func newMetrics(registry prometheus.Registerer, l *Limiter) *metrics {
	m := &metrics{
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "callgate_limits_refused_total",
			Help: "Calls refused because a limit of their key, their application or their owner was reached, by limit."}, []string{"limit"}),
		exchanges: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "callgate_limits_exchanges_total",
			Help: "Exchanges with Redis about limits, by result: done, error, base_error."}, []string{"result"}),
		estimated: prometheus.NewCounter(prometheus.CounterOpts{Name: "callgate_limits_uncounted_calls_total",
			Help: "Calls of applications with a limit of tokens whose answer did not say how many it used: an estimate was counted."}),
		readErrors: prometheus.NewCounter(prometheus.CounterOpts{Name: "callgate_limits_read_errors_total",
			Help: "Failed reads of the limits from PostgreSQL; those read last hold."}),
	}
	registry.MustRegister(m.refused, m.exchanges, m.estimated, m.readErrors,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "callgate_limits_shared",
			Help: "1 while this gateway spends its share of every limit because Redis cannot be asked."}, func() float64 {
			if l.link.sharing(l.elapsed()) {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "callgate_limits_gateways",
			Help: "Gateways among whom limits are shared while Redis cannot be asked."}, func() float64 {
			return float64(l.peers.Load().count)
		}))
	for _, limit := range limitNames {
		m.refused.WithLabelValues(limit)
	}
	for _, result := range [...]string{"done", "error", "base_error"} {
		m.exchanges.WithLabelValues(result)
	}
	return m
}
