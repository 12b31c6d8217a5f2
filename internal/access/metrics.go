package access

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics counts what the resolver does. Label values are a closed set.
type metrics struct {
	memory, redis, postgres         prometheus.Counter // grants given, by the layer that held them
	malformed, unknown, unavailable prometheus.Counter // keys refused, by reason
	loads                           *prometheus.CounterVec
	shared                          prometheus.Counter
	feedErrors                      prometheus.Counter
	lag                             prometheus.Histogram
	floors                          prometheus.Gauge
	capabilities                    prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer, feedAge func() time.Duration, remembered func() int, paused func() bool) *metrics {
	factory := promauto.With(reg)
	grants := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "callgate_access_grants_total", Help: "Access Keys resolved, by the layer that answered.",
	}, []string{"layer"})
	refusals := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "callgate_access_refusals_total", Help: "Access Keys not resolved, by reason.",
	}, []string{"reason"})
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "callgate_access_feed_age_seconds", Help: "Time since the last successful read of the change feed began.",
	}, func() float64 { return feedAge().Seconds() })
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "callgate_access_memory_entries", Help: "Grants held in memory.",
	}, func() float64 { return float64(remembered()) })
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "callgate_access_redis_breaker_open", Help: "1 while Redis is left alone after repeated failures and PostgreSQL is asked instead, else 0.",
	}, func() float64 {
		if paused() {
			return 1
		}
		return 0
	})
	return &metrics{
		memory:      grants.WithLabelValues("memory"),
		redis:       grants.WithLabelValues("redis"),
		postgres:    grants.WithLabelValues("postgres"),
		malformed:   refusals.WithLabelValues("malformed"),
		unknown:     refusals.WithLabelValues("unknown"),
		unavailable: refusals.WithLabelValues("unavailable"),
		loads: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "callgate_access_loads_total", Help: "Questions asked of a store, by result (hit, miss, stale, error).",
		}, []string{"store", "result"}),
		shared: factory.NewCounter(prometheus.CounterOpts{
			Name: "callgate_access_loads_shared_total", Help: "Calls that shared the load of another.",
		}),
		feedErrors: factory.NewCounter(prometheus.CounterOpts{
			Name: "callgate_access_feed_errors_total", Help: "Failed reads of the change feed.",
		}),
		lag: factory.NewHistogram(prometheus.HistogramOpts{
			Name:    "callgate_access_revocation_lag_seconds",
			Help:    "Time from a change to this gateway knowing of it, by the clock of Postgres.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, .75, 1, 1.5, 2, 5, 30},
		}),
		floors: factory.NewGauge(prometheus.GaugeOpts{
			Name: "callgate_access_floors", Help: "Applications changed recently, whose older grants are refused.",
		}),
		capabilities: factory.NewGauge(prometheus.GaugeOpts{
			Name: "callgate_access_capabilities", Help: "Capabilities in the catalog snapshot.",
		}),
	}
}
