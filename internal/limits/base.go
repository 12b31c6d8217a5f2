package limits

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"callgate/internal/beijing"
)

var (
	//go:embed base.lua
	baseText   string
	baseScript = redis.NewScript(baseText)
)

// baseTimeout bounds the ledger's answer to what it has of a day.
const baseTimeout = 20 * time.Second

// rebase adds to the count of a day what nobody who is there would tell of it: calls of gateways that have ended, and
// of the time before there was a limit. It waits until all who are there have told theirs.
func (l *Limiter) rebase(t *tally, m *meter, now time.Duration) {
	m.mu.Lock()
	needed := m.span == beijingDay && !m.based && m.epoch != "" && now-m.first >= l.pace.resume && !m.basing
	m.basing = m.basing || needed
	m.mu.Unlock()
	if !needed {
		return
	}
	l.running.Go(func() {
		ctx, cancel := context.WithTimeout(l.work, baseTimeout)
		defer cancel()
		if err := l.base(ctx, t, m); err != nil {
			l.metrics.exchanges.WithLabelValues("base_error").Inc()
			l.log.Warn("what the ledger has of a day cannot be added to a quota yet", "scope", t.Scope, "id", t.ID, "error", err)
		}
		m.mu.Lock()
		m.basing, m.first = false, l.elapsed() // with an error: once more, later
		m.mu.Unlock()
	})
}

func (l *Limiter) base(ctx context.Context, t *tally, m *meter) error {
	key, bucket := keyOf(t.ID, m.name), m.bucket(l.elapsed())
	fields, err := l.config.Redis.HGetAll(ctx, key).Result()
	if err != nil {
		return err
	}
	counted := map[uuid.UUID]time.Time{}
	for field, value := range fields {
		name, began := strings.CutPrefix(field, "began:")
		id, err := uuid.Parse(name)
		ms, numeric := strconv.ParseInt(value, 10, 64)
		if began && err == nil && numeric == nil {
			counted[id] = time.UnixMilli(ms)
		}
	}
	calls, tokens, err := l.ledgers(ctx, t, m, beijing.Day(bucket), counted)
	if err != nil {
		return err
	}
	if m == t.dayTokens {
		calls = tokens
	}
	return baseScript.Run(ctx, l.config.Redis, []string{key}, bucket, calls).Err()
}

// ledgers asks the ledger what it has of a day.
func (l *Limiter) ledgers(ctx context.Context, t *tally, m *meter, day beijing.Day, counted map[uuid.UUID]time.Time) (calls, tokens int64, err error) {
	var except []uuid.UUID
	if t.Scope == ForOwner {
		at := slices.Index(limitNames[:], CallsPerDay)
		if m == t.dayTokens {
			at = slices.Index(limitNames[:], TokensPerDay)
		}
		except = l.snapshot.Load().raised(t.ID, at)
	}
	return l.config.Spent(ctx, t.Subject, except, day, counted)
}
