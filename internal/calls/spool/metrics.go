package spool

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/calls"
)

// register adds the spool's metrics to reg; what becomes of its segments is counted by whoever ships them.
func (s *Spool) register(reg prometheus.Registerer) error {
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "callgate", Subsystem: "spool", Name: name, Help: help}, read)
	}
	counter := func(name, help string, read func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "callgate", Subsystem: "spool", Name: name, Help: help},
			func() float64 { return float64(read()) })
	}
	all := []prometheus.Collector{
		newHomes(s, s.writer.limit),
		counter("records_appended_total", "Call records written to the spool.", s.Written),
		counter("write_errors_total", "Failed writes to the spool; records wait in memory meanwhile.", s.writer.writeErrors.Load),
		gauge("bytes", "Bytes of all spool segments on disk, sent ones included.", func() float64 { return float64(s.total()) }),
		gauge("unsent_segments", "Sealed segments not yet confirmed by ClickHouse.", func() float64 { return float64(s.Backlog()) }),
		gauge("oldest_unshipped_seconds", "Age of the oldest call record ClickHouse has not confirmed.", s.oldestSeconds),
		counter("details_dropped_total", "Failure details dropped because the memory ring was full.", func() uint64 {
			details, _ := s.Lost()
			return details
		}),
		counter("records_dropped_total", "Call records dropped because the memory ring was full.", func() uint64 {
			_, records := s.Lost()
			return records
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

func (s *Spool) oldestSeconds() float64 {
	oldest := s.Pending().Oldest
	if oldest == Never || oldest < calls.MinStart {
		return 0
	}
	return max(time.Since(time.UnixMilli(oldest)).Seconds(), 0)
}
