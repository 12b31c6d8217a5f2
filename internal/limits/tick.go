package limits

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	keptWarm = 10 * time.Second // after its last call a subject still has leases
	kept     = 3 * time.Minute  // and a tally

	batchTimeout = 100 * time.Millisecond
	batchSize    = 500
)

// due is one exchange of a tick.
type due struct {
	tally *tally
	meter *meter // nil: of the slots
	sent  time.Duration
	cmd   *redis.Cmd

	reserve int64 // what the call that asked needs
	served  bool  // it has it
	bucket  int64 // counted in it

	arguments []any
}

// tick exchanges all that is due: leases are renewed before they end, so that calls find one.
func (l *Limiter) tick(ctx context.Context) {
	now := l.elapsed()
	if l.link.away() && !l.probe(ctx) {
		l.holdShares(now)
		return
	}
	var batch []*due
	l.tallies.Range(func(_, found any) bool {
		t := found.(*tally)
		if l.forget(t, now) {
			return true
		}
		batch = l.dueOf(batch, t, now)
		return ctx.Err() == nil
	})
	for len(batch) > 0 {
		n := min(len(batch), batchSize)
		l.run(ctx, batch[:n])
		batch = batch[n:]
	}
}

// probe tries Redis during an outage.
func (l *Limiter) probe(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	if l.config.Redis.Ping(ctx).Err() != nil {
		return false
	}
	l.link.answered(l.elapsed(), l.pace.resume)
	return true
}

func (l *Limiter) holdShares(now time.Duration) {
	l.tallies.Range(func(_, found any) bool {
		if t := found.(*tally); t.slots.limit.Load() > 0 {
			t.slots.share(*l.peers.Load(), now, l.pace.window)
		}
		return true
	})
}

// dueOf adds what of a state is due. Its exchanges are locked until run has done them.
func (l *Limiter) dueOf(batch []*due, t *tally, now time.Duration) []*due {
	sharing, peers, gateway := l.link.sharing(now), l.peers.Load().count, l.config.Gateway.String()
	for m := range t.meters {
		if !m.exchange.TryLock() {
			continue
		}
		want, least, is := m.due(now, l.pace)
		if sharing || m.lost.Load() {
			want, least = 0, 0
		}
		if !is {
			m.exchange.Unlock()
			continue
		}
		batch = append(batch, &due{tally: t, meter: m, arguments: m.ask(gateway, want, least, peers)})
		l.rebase(t, m, now)
	}
	if t.slots.limit.Load() > 0 && t.slots.exchange.TryLock() {
		want, is := t.slots.due(now, l.pace, peers)
		if sharing {
			want = 0
		}
		if is {
			keep := now-time.Duration(t.slots.lastUse.Load()) < keptWarm
			batch = append(batch, &due{tally: t, arguments: t.slots.ask(gateway, want, peers, keep, l.pace.stale)})
		} else {
			t.slots.exchange.Unlock()
		}
	}
	return batch
}

// due tells whether a meter needs an exchange, and what it wants of it.
func (m *meter) due(now time.Duration, p pace) (want, least int64, is bool) {
	warm := now-time.Duration(m.lastUse.Load()) < keptWarm
	l := m.lease.Load()
	m.mu.Lock()
	defer m.mu.Unlock()
	since := now - m.last
	switch {
	case m.sent != nil: // again
		return 0, 0, true
	case time.Duration(m.emptyTo.Load()) > m.last: // somebody was refused
		want = m.demanded()
		return want, want, true
	case warm && (l == nil || now > l.until-p.life/2 || l.left.Load() < l.granted/4):
		expected := float64(m.demanded()) * float64(p.life) / float64(max(since, p.tick))
		return 1 + int64(expected), 0, since >= p.tick/2
	case !warm && l != nil:
		m.replace(nil)
		return 0, 0, true
	}
	untold := len(m.pending) > 0 || m.idle() != m.told
	return 0, 0, untold && since >= p.life/2 || m.uncounted() > m.limit.Load()/slicesOfShare
}

// due is meter's for slots: what is held is said again before it is given up as a dead gateway's.
func (s *slots) due(now time.Duration, p pace, peers int) (want int64, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, warm := now-s.last, now-time.Duration(s.lastUse.Load()) < keptWarm
	if wanted := s.wanted.Load() - max(0, s.free.Load()); wanted > 0 { // calls have ended since
		return wanted, true
	}
	// A reserve is looked at as often as what is spare: others may be short of slots by now.
	idle, pause := s.free.Load() > 0 && warm || s.spare(peers, warm) > 0, p.life/2
	if s.room() <= 0 {
		pause = p.tick / 2
	}
	return 0, idle && since >= pause || max(0, s.inFlight()) != s.told && since >= p.life/2 || s.held.Load() > 0 && since >= p.stale/10
}

// run does exchanges in one round trip.
func (l *Limiter) run(ctx context.Context, batch []*due) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	pipe := l.config.Redis.Pipeline()
	for _, d := range batch {
		d.sent = l.elapsed()
		d.cmd = d.script().EvalSha(ctx, pipe, d.keys(), d.arguments...)
	}
	_, _ = pipe.Exec(ctx) // each has its own error
	for _, d := range batch {
		if redis.HasErrorPrefix(d.cmd.Err(), "NOSCRIPT") {
			d.cmd = d.script().Eval(ctx, l.config.Redis, d.keys(), d.arguments...)
		}
		l.done(d)
		d.lock().Unlock()
	}
}

func (d *due) script() *redis.Script {
	if d.meter == nil {
		return slotsScript
	}
	return windowScript
}

func (d *due) keys() []string {
	if d.meter == nil {
		return []string{keyOf(d.tally.ID, "slots"), keyOf(d.tally.ID, "slots-used")}
	}
	return []string{keyOf(d.tally.ID, d.meter.name)}
}

func (d *due) lock() interface{ Unlock() } {
	if d.meter == nil {
		return &d.tally.slots.exchange
	}
	return &d.meter.exchange
}

// done takes the answer to an exchange. It reports whether there was one.
func (l *Limiter) done(d *due) bool {
	answer, err := d.cmd.Result()
	lost := false
	if err == nil {
		if d.meter == nil {
			lost, d.served, err = d.tally.slots.accept(answer, d.sent, d.reserve)
		} else {
			var c counted
			if c, err = parseCounted(answer); err == nil {
				lost, d.served = d.meter.accept(c, d.sent, l.elapsed(), l.pace.life, l.link.sharing(l.elapsed()), d.reserve)
				d.bucket = c.grantedIn
			}
		}
	}
	now := l.elapsed()
	if err != nil {
		l.metrics.exchanges.WithLabelValues("error").Inc()
		if !errors.Is(err, context.Canceled) {
			l.link.failed()
		}
		if !isConnection(err) {
			l.log.Warn("limits cannot be exchanged with Redis", "error", err)
		}
		return false
	}
	l.metrics.exchanges.WithLabelValues("done").Inc()
	l.link.answered(now, l.pace.resume)
	if lost {
		l.log.Warn("Redis has lost counts of limits: every gateway spends its share until all have told theirs again")
		l.link.lost(now, l.pace.resume)
	}
	return true
}

// isConnection tells an outage, which a metric shows, from an answer that says what is wrong.
func isConnection(err error) bool {
	return !strings.HasPrefix(err.Error(), "ERR") && !strings.HasPrefix(err.Error(), "NOPERM")
}

// exchange is one for a call that waits for n. It gives the bucket in which they are counted; answered tells whether
// there was an answer.
func (l *Limiter) exchange(t *tally, m *meter, want, n int64) (bucket int64, taken, answered bool) {
	d := &due{tally: t, meter: m, reserve: n}
	d.arguments = m.ask(l.config.Gateway.String(), want, n, l.peers.Load().count)
	answered = l.alone(d)
	return d.bucket, d.served, answered
}

// exchangeSlots is one for a call that waits for a slot.
func (l *Limiter) exchangeSlots(t *tally, want int64) (taken, answered bool) {
	d := &due{tally: t, reserve: 1}
	d.arguments = t.slots.ask(l.config.Gateway.String(), want, l.peers.Load().count, true, l.pace.stale)
	answered = l.alone(d)
	return d.served, answered
}

func (l *Limiter) alone(d *due) bool {
	ctx, cancel := context.WithTimeout(context.Background(), l.pace.timeout)
	defer cancel()
	d.sent = l.elapsed()
	d.cmd = d.script().Run(ctx, l.config.Redis, d.keys(), d.arguments...)
	return l.done(d)
}

// forget drops the tally of a subject that has not called for long.
func (l *Limiter) forget(t *tally, now time.Duration) bool {
	if t.slots.inFlight() > 0 || t.reserving.Load() > 0 || now-time.Duration(t.slots.lastUse.Load()) < kept {
		return false
	}
	for _, m := range [...]*meter{t.requests, t.tokens, t.calls, t.dayTokens} {
		if now-time.Duration(m.lastUse.Load()) < kept || m.holds(now) {
			return false
		}
	}
	t.snapshot.Store(nil)
	l.tallies.Delete(t.Subject)
	return true
}

// holds tells whether a meter has what must not be forgotten: a lease, or what it would have to tell again.
func (m *meter) holds(now time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lease.Load() != nil || len(m.pending) > 0 || m.sent != nil || m.own.sum(m.bucket(now)) > 0
}

// leave gives back what is leased.
func (l *Limiter) leave(ctx context.Context) {
	gateway := l.config.Gateway.String()
	var batch []*due
	l.tallies.Range(func(_, found any) bool {
		t := found.(*tally)
		for m := range t.meters {
			if !m.exchange.LockWithin(batchTimeout) {
				continue
			}
			m.mu.Lock()
			m.replace(nil)
			m.mu.Unlock()
			batch = append(batch, &due{tally: t, meter: m, arguments: m.ask(gateway, 0, 0, 1)})
		}
		if t.slots.limit.Load() > 0 && t.slots.exchange.LockWithin(batchTimeout) {
			batch = append(batch, &due{tally: t, arguments: t.slots.ask(gateway, 0, 1, false, l.pace.stale)})
		}
		return true
	})
	if len(batch) > 0 && !l.link.away() {
		l.run(ctx, batch)
	}
}
