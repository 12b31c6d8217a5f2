package calls

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	appended, shipped, retried, refused, quarantined, damaged, settled, writeErrors prometheus.Counter
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "callgate", Subsystem: "spool", Name: name, Help: help})
	}
	return &metrics{
		appended:    counter("records_appended_total", "Call records written to the spool."),
		shipped:     counter("records_shipped_total", "Call records ClickHouse has confirmed."),
		retried:     counter("batches_retried_total", "Batches sent again after a failed attempt."),
		refused:     counter("batches_refused_total", "Attempts ClickHouse answered with an error; they are repeated until it accepts."),
		quarantined: counter("records_quarantined_total", "Records that could not be decoded; kept on disk and counted as missed."),
		damaged:     counter("records_damaged_total", "Records lost to damage of the spool on disk; counted as missed."),
		settled:     counter("batches_settled_total", "Batches found in ClickHouse by batch_id instead of being sent again."),
		writeErrors: counter("write_errors_total", "Failed writes to the spool; records wait in memory meanwhile."),
	}
}

// register adds the room's metrics to reg.
func (m *metrics) register(reg prometheus.Registerer, r *Recorder) error {
	ring, spool := r.ring, r.spool
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "callgate", Subsystem: "spool", Name: name, Help: help}, read)
	}
	counter := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "callgate", Subsystem: "spool", Name: name, Help: help}, read)
	}
	all := []prometheus.Collector{
		m.appended, m.shipped, m.retried, m.refused, m.quarantined, m.damaged, m.settled, m.writeErrors,
		gauge("bytes", "Bytes of all spool segments on disk, sent ones included.", func() float64 { return float64(spool.total()) }),
		gauge("unsent_segments", "Sealed segments not yet confirmed by ClickHouse.", func() float64 { return float64(spool.backlog()) }),
		gauge("oldest_unshipped_seconds", "Age of the oldest call record ClickHouse has not confirmed.", func() float64 {
			oldest := min(r.pending(), spool.state().oldest)
			if oldest == never || oldest < minStart {
				return 0
			}
			return max(time.Since(time.UnixMilli(oldest)).Seconds(), 0)
		}),
		counter("details_dropped_total", "Failure details dropped because the memory ring was full.", func() float64 {
			details, _ := ring.lost()
			return float64(details)
		}),
		counter("records_dropped_total", "Call records dropped because the memory ring was full.", func() float64 {
			_, records := ring.lost()
			return float64(records)
		}),
	}
	var errs []error
	for _, c := range all {
		errs = append(errs, reg.Register(c))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("register spool metrics: %w", err)
	}
	return nil
}
