package limits

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"callgate/internal/beijing"
)

// Config says what a Limiter works with.
type Config struct {
	Gateway uuid.UUID // this process, as the table gateways names it
	// Snapshot reads the limits, as Store.ReadSnapshot does.
	Snapshot func(ctx context.Context, known *Snapshot) (*Snapshot, error)
	Pool     *pgxpool.Pool // of the table gateways
	Redis    redis.UniversalClient
	// Spent counts what the ledger has of a subject's day, but for the calls that began at one of counted's gateways
	// after the time given there, and of an owner for those of the applications excepted.
	Spent    func(ctx context.Context, of Subject, except []uuid.UUID, day beijing.Day, counted map[uuid.UUID]time.Time) (calls, tokens int64, err error)
	Logger   *slog.Logger
	Registry prometheus.Registerer

	pace  pace
	peers func(context.Context) (Peers, error)
}

// pace is how fast everything goes; tests go faster.
type pace struct {
	window  time.Duration // of requestsPerMinute and tokensPerMinute
	unit    time.Duration // of a bucket of it
	life    time.Duration // of a lease
	tick    time.Duration
	resume  time.Duration // after Redis is back: until every gateway has found that out and told what it spent; dialling takes up to 5 s
	timeout time.Duration // of an exchange for a call that waits
	stale   time.Duration // after which the slots of a gateway that is silent are free
}

var usual = pace{window: time.Minute, unit: 250 * time.Millisecond, life: 600 * time.Millisecond, tick: 100 * time.Millisecond,
	resume: 7 * time.Second, timeout: 50 * time.Millisecond, stale: 15 * time.Second}

// minute is the sliding window. A bucket counts until what is spent of the last lease in it is out of the window.
func (p pace) minute() span {
	whole := p.window + p.life + p.unit
	return span{unit: p.unit.Milliseconds(), buckets: int64((whole + p.unit - 1) / p.unit)}
}

// beijingDay counts calls by Beijing days.
var beijingDay = span{unit: (24 * time.Hour).Milliseconds(), offset: (8 * time.Hour).Milliseconds(), buckets: 1}

// noLimits is what holds before the limits were read once.
var noLimits = new(Snapshot)

// Limiter holds applications to their limits. It is for one gateway; every gateway has one.
type Limiter struct {
	config   Config
	pace     pace
	began    time.Time
	log      *slog.Logger
	metrics  *metrics
	snapshot atomic.Pointer[Snapshot]
	peers    atomic.Pointer[Peers]
	tallies  sync.Map // Subject -> *tally
	link     link

	work    context.Context // of all that runs; ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Open reads the limits, and goes on reading and exchanging until Close. While PostgreSQL cannot be read the limits
// read last hold; before the first time nobody has any.
func Open(ctx context.Context, config Config) *Limiter {
	if config.pace == (pace{}) {
		config.pace = usual
	}
	if config.Registry == nil {
		config.Registry = prometheus.NewRegistry()
	}
	if config.peers == nil {
		config.peers = func(ctx context.Context) (Peers, error) {
			return readPeers(ctx, config.Pool, config.Gateway, config.pace.window)
		}
	}
	if config.Spent == nil {
		config.Spent = nothingSpent
	}
	l := &Limiter{config: config, pace: config.pace, began: time.Now(), log: config.Logger}
	l.metrics = newMetrics(config.Registry, l)
	l.snapshot.Store(noLimits)
	l.peers.Store(&alone)
	l.read(ctx)
	l.work, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.every(time.Second, l.read)
	l.every(l.pace.tick, l.tick)
	return l
}

// nothingSpent is the ledger where there is none.
func nothingSpent(context.Context, Subject, []uuid.UUID, beijing.Day, map[uuid.UUID]time.Time) (calls, tokens int64, err error) {
	return 0, 0, nil
}

func (l *Limiter) every(pause time.Duration, work func(context.Context)) {
	l.running.Go(func() {
		ticker := time.NewTicker(pause)
		defer ticker.Stop()
		for {
			select {
			case <-l.work.Done():
				return
			case <-ticker.C:
				work(l.work)
			}
		}
	})
}

// read brings limits and gateways up to date; errors leave them as they are.
func (l *Limiter) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	known := l.snapshot.Load()
	if known == noLimits {
		known = nil
	}
	read, err := l.config.Snapshot(ctx, known)
	if err != nil {
		l.metrics.readErrors.Inc()
		return
	}
	l.snapshot.Store(read)
	if read.Empty() {
		return
	}
	if peers, err := l.config.peers(ctx); err == nil {
		l.peers.Store(&peers)
	}
}

// Close gives back what is leased and ends all work.
func (l *Limiter) Close() {
	l.cancel()
	l.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	l.leave(ctx)
}

func (l *Limiter) elapsed() time.Duration { return time.Since(l.began) }
