package alerts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/secret"
)

// Config is what the background work is told.
type Config struct {
	Pool          *pgxpool.Pool
	Ring          *secret.Keyring
	Source        Source
	Mail          func(ctx context.Context, to, subject, text string) error
	Administrator func(email string) bool
	AllowPrivate  bool          // webhooks may go to addresses that are not public
	Pages         string        // base URL of the console's pages, without a trailing slash
	Keep          time.Duration // of events, with their deliveries; 0: 30 days
	Logger        *slog.Logger
	Registry      prometheus.Registerer // may be nil

	Now  func() time.Time // of evaluations; nil: time.Now
	pace pace             // zero: usual
}

// pace is how quickly things are done.
type pace struct {
	every    time.Duration // between two evaluations
	standIn  time.Duration // between two tries to evaluate, of a console that does not
	claimFor time.Duration // an attempt may take until another may be made: that of a console that was killed
	attempt  time.Duration // an attempt takes at most
	retry    time.Duration // until the second attempt
}

// usual has two evaluations, an attempt of a console that is killed meanwhile, and another one, fit into the 60 s from cause to
// message.
var usual = pace{every: SlotLength, standIn: 2 * time.Second, claimFor: 15 * time.Second, attempt: 10 * time.Second, retry: 5 * time.Second}

// Service evaluates rules when it is this console's turn, and delivers.
type Service struct {
	evaluator  *evaluator
	dispatcher *dispatcher
	stop       context.CancelFunc // taking up anything new
	abandon    context.CancelFunc // what is being attempted
	done       sync.WaitGroup
}

// Start begins the background work; it succeeds while the stores are down.
func Start(c Config) (*Service, error) {
	s, err := build(c)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	attempting, abandon := context.WithCancel(context.Background())
	s.stop, s.abandon = stop, abandon
	s.done.Go(func() { s.evaluator.run(ctx) })
	s.done.Go(func() { s.dispatcher.run(ctx, attempting) })
	return s, nil
}

func build(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.pace = cmp.Or(c.pace, usual)
	m, err := newMetrics(c.Registry)
	if err != nil {
		return nil, fmt.Errorf("metrics of alerts: %w", err)
	}
	d := &dispatcher{
		pool: c.Pool, log: c.Logger, metrics: m, wake: make(chan struct{}, 1), pace: c.pace, slow: map[uuid.UUID]time.Time{},
		sender: &sender{
			ring: c.Ring, client: newClient(c.AllowPrivate, c.pace.attempt), timeout: c.pace.attempt, mail: c.Mail, administrator: c.Administrator, allowPrivate: c.AllowPrivate, now: time.Now,
		},
	}
	e := &evaluator{
		pool: c.Pool, source: c.Source, pages: c.Pages, log: c.Logger, now: c.Now, keep: cmp.Or(c.Keep, keepEvents), pace: c.pace, told: d.nudge, metrics: m,
	}
	return &Service{evaluator: e, dispatcher: d}, nil
}

// Close takes up nothing new and lets attempts end until ctx is done; what was not delivered by then is, by another console or
// the next start.
func (s *Service) Close(ctx context.Context) {
	s.stop()
	s.done.Wait()
	ended := make(chan struct{})
	go func() { s.dispatcher.attempts.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	s.abandon()
	<-ended
}

// metrics are of this console, but for the rules, which who evaluates counts.
type metrics struct {
	leading                prometheus.Gauge
	rounds                 prometheus.Counter
	rules, unknown, firing prometheus.Gauge
	changes                prometheus.Counter
	attempts               *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "callgate", Subsystem: "alerts", Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "callgate", Subsystem: "alerts", Name: name, Help: help})
	}
	m := &metrics{
		leading: gauge("evaluating", "Whether this console evaluates alerts: 1 or 0; over all consoles it must be 1."),
		rounds:  counter("evaluations_total", "Evaluations of all alerts that this console has made."),
		rules:   gauge("rules", "Enabled alerts at this console's last evaluation."),
		unknown: gauge("rules_unknown", "Alerts of which this console's last evaluation could not find out anything."),
		firing:  gauge("rules_firing", "Alerts that fired at this console's last evaluation."),
		changes: counter("changes_total", "Changes of alerts that this console has told."),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "callgate", Subsystem: "alerts", Name: "delivery_attempts_total", Help: "Attempts to deliver an alert, by kind of channel and what became of them.",
		}, []string{"channel", "result"}),
	}
	for _, kind := range channelKinds { // so that the first failure is a step
		for _, outcome := range []string{"delivered", "failed"} {
			m.attempts.WithLabelValues(string(kind), outcome)
		}
	}
	if registry == nil {
		return m, nil
	}
	var err error
	for _, c := range []prometheus.Collector{m.leading, m.rounds, m.rules, m.unknown, m.firing, m.changes, m.attempts} {
		err = errors.Join(err, registry.Register(c))
	}
	return m, err
}

func (m *metrics) noteRound(rules, unknown, firing, told int) {
	m.rules.Set(float64(rules))
	m.unknown.Set(float64(unknown))
	m.firing.Set(float64(firing))
	m.changes.Add(float64(told))
}

func (m *metrics) noteAttempt(kind ChannelKind, r result) {
	outcome := "delivered"
	if r.fail != "" {
		outcome = "failed"
	}
	m.attempts.WithLabelValues(string(kind), outcome).Inc()
}
