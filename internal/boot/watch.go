package boot

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/calls/ledger"
)

const (
	watchEvery = 5 * time.Second
	watchReply = 2 * time.Second
)

// watch asks the stores of a process at intervals whether they answer, for the metrics and a line in the log when that changes, and
// the ledger how far it is. Nothing waits for it, and nothing is decided by it.
type watch struct {
	stores map[string]func(context.Context) error
	ledger func(context.Context) (ledger.Status, error) // nil: not this process's to tell

	up      *prometheus.GaugeVec
	through atomic.Int64 // Unix milliseconds; 0: not known yet
	silent  atomic.Int64
	held    atomic.Int64

	stop  context.CancelFunc
	ended sync.WaitGroup
}

// startWatch registers the metrics of what the node is and leans on, and begins to ask.
func (n *Node) startWatch() *watch {
	w := &watch{
		stores: map[string]func(context.Context) error{
			"postgres": n.pool.Ping,
			"redis":    func(ctx context.Context) error { return n.redis.Ping(ctx).Err() },
		},
		up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "callgate_store_up", Help: "Whether a store answered this process's last question, asked every 5 s: 1 or 0.",
		}, []string{"store"}),
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "callgate_build_info", Help: "Always 1; version, role and compiler of the process.",
	}, []string{"version", "role", "go"})
	build.WithLabelValues(Version, string(n.config.Role), runtime.Version()).Set(1)
	n.registry.MustRegister(build, w.up)
	if n.shipper != nil {
		w.stores["clickhouse"] = n.shipper.Ping
	}
	if n.stats != nil {
		w.stores["clickhouse"] = n.stats.Ping
		w.ledger = ledger.New(n.pool).Status
		n.registry.MustRegister(w.ledgerMetrics()...)
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	for name, ask := range w.stores {
		up, away := w.up.WithLabelValues(name), false
		w.every(ctx, func(asking context.Context) {
			err := ask(asking)
			up.Set(one(err == nil))
			switch was := away; {
			case ctx.Err() != nil: // the process ends
			case err != nil && !was:
				n.logger.Warn("a store does not answer", "store", name, "error", err)
			case err == nil && was:
				n.logger.Info("a store answers again", "store", name)
			}
			away = err != nil
		})
	}
	if w.ledger != nil {
		w.every(ctx, w.readLedger)
	}
	return w
}

func (w *watch) ledgerMetrics() []prometheus.Collector {
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "callgate", Subsystem: "ledger", Name: name, Help: help}, read)
	}
	return []prometheus.Collector{
		// It goes on growing while PostgreSQL cannot be asked, for nobody can see further then.
		gauge("data_through_age_seconds", "How far the statistics' dataThrough is behind now; NaN before it was first read.", func() float64 {
			if through := w.through.Load(); through != 0 {
				return max(time.Since(time.UnixMilli(through)).Seconds(), 0)
			}
			return math.NaN()
		}),
		gauge("silent_spools", "Spools that hold dataThrough back and have not reported for 10 s: gateways that are lost, or cannot reach PostgreSQL.",
			func() float64 { return float64(w.silent.Load()) }),
		gauge("silent_bytes", "Bytes that these spools held when they last reported.", func() float64 { return float64(w.held.Load()) }),
	}
}

func (w *watch) readLedger(ctx context.Context) {
	standing, err := w.ledger(ctx)
	if err != nil {
		return
	}
	w.through.Store(standing.Through.UnixMilli())
	w.silent.Store(int64(standing.Silent))
	w.held.Store(standing.Held)
}

// every runs ask now and at intervals, until the watch ends; each time within watchReply.
func (w *watch) every(ctx context.Context, ask func(context.Context)) {
	w.ended.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			limited, cancel := context.WithTimeout(ctx, watchReply)
			ask(limited)
			cancel()
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
}

// Close ends the asking.
func (w *watch) Close() {
	w.stop()
	w.ended.Wait()
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
