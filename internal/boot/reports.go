package boot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"callgate/internal/catalog"
	"callgate/internal/gateway"
)

const (
	reportEvery   = 3 * time.Second // what the back office shows of upstreams is at most this old
	reportTimeout = 2 * time.Second
	reportIdle    = 20 // of reports of nothing, one in so many is made
)

// reports tells PostgreSQL how this gateway sees the upstreams, beside the calls.
type reports struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

func startReports(store *catalog.Store, spool uuid.UUID, of func() map[string]gateway.UpstreamState, logger *slog.Logger) *reports {
	ctx, stop := context.WithCancel(context.Background())
	r := &reports{stop: stop}
	r.done.Go(func() {
		ticker := time.NewTicker(reportEvery)
		defer ticker.Stop()
		failed := false
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			states := of()
			if len(states) == 0 && n%reportIdle != 0 {
				continue
			}
			within, cancel := context.WithTimeout(ctx, reportTimeout)
			err := store.ReportUpstreams(within, spool, upstreamReports(states))
			cancel()
			if err != nil && !failed && ctx.Err() == nil {
				logger.Warn("how upstreams do is not reported", "error", err)
			}
			failed = err != nil
		}
	})
	return r
}

// Close ends the reports.
func (r *reports) Close() {
	r.stop()
	r.done.Wait()
}

func upstreamReports(states map[string]gateway.UpstreamState) map[string]catalog.UpstreamReport {
	reports := make(map[string]catalog.UpstreamReport, len(states))
	for id, s := range states {
		reports[id] = catalog.UpstreamReport{
			State: s.State, OpenedAt: unlessZero(s.OpenedAt), Calls: s.Calls, Failures: s.Failures,
			Error: s.LastError, ErrorAt: unlessZero(s.ErrorAt),
		}
	}
	return reports
}

func unlessZero(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
