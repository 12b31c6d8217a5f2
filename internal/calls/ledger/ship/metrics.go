package ship

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of shipping stand beside the spool's.
type metrics struct {
	shipped, retried, refused, quarantined, damaged, alreadyStored prometheus.Counter
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "callgate", Subsystem: "spool", Name: name, Help: help})
	}
	return &metrics{
		shipped:       counter("records_shipped_total", "Call records ClickHouse has confirmed."),
		retried:       counter("batches_retried_total", "Batches sent again after a failed attempt."),
		refused:       counter("batches_refused_total", "Attempts ClickHouse answered with an error; they are repeated until it accepts."),
		quarantined:   counter("records_quarantined_total", "Records that could not be decoded; kept on disk and counted as missed."),
		damaged:       counter("records_damaged_total", "Records lost to damage of the spool on disk; counted as missed."),
		alreadyStored: counter("batches_settled_total", "Batches found in ClickHouse by batch_id instead of being sent again."),
	}
}

func (m *metrics) register(reg prometheus.Registerer) error {
	var errs []error
	for _, c := range []prometheus.Collector{m.shipped, m.retried, m.refused, m.quarantined, m.damaged, m.alreadyStored} {
		errs = append(errs, reg.Register(c))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("register shipping metrics: %w", err)
	}
	return nil
}
