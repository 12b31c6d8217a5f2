package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/cluster"
	"callgate/internal/secret"
)

// account owns accountSize applications.
type account struct {
	ID      uuid.UUID
	Session string // token of a session that is signed in
}

// owned is an application and whose it is.
type owned struct {
	ID      uuid.UUID
	Account int
}

const (
	largestShare = 0.2     // of all calls, of the most called application
	slots        = 200_000 // how finely the law of the applications is cut
	models       = 12
	hourOfDay    = 14
)

// crowdedDay has an hour with a tenth of all calls, of the most called application, and busyDay one
// with a hundredth, of the second.
func (b *bench) crowdedDay() beijing.Day { return b.Today - beijing.Day(b.days/9) }
func (b *bench) busyDay() beijing.Day    { return b.Today - beijing.Day(b.days/4) }

// shares are the applications' shares of the calls: a Zipf law whose exponent gives the first one
// the largest share.
func shares(n int) []float64 {
	low, high := 0.0, 5.0
	var law []float64
	for range 60 {
		middle := (low + high) / 2
		law = law[:0]
		total := 0.0
		for rank := 1; rank <= n; rank++ {
			law = append(law, math.Pow(float64(rank), -middle))
			total += law[rank-1]
		}
		for i := range law {
			law[i] /= total
		}
		if law[0] < largestShare {
			low = middle
		} else {
			high = middle
		}
	}
	return law
}

// furnish makes the accounts, each signed in, and the applications.
func (b *bench) furnish(ctx context.Context) error {
	b.Today = beijing.Today(time.Now())
	pool, err := pgxpool.New(ctx, b.engines.DatabaseURL())
	if err != nil {
		return err
	}
	defer pool.Close()
	keyring, err := secret.ParseKeyring(ring)
	if err != nil {
		return err
	}
	b.Accounts = make([]account, b.applications/accountSize)
	for i := range b.Accounts {
		if b.Accounts[i], err = signedIn(ctx, pool, i); err != nil {
			return err
		}
	}
	b.Owned = make([]owned, b.applications)
	store := application.New(pool, keyring, secret.Pepper(pepper))
	group, inGroup := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for rank := range b.Owned {
		group.Go(func() error {
			of := rank % len(b.Accounts)
			made, _, err := store.Create(inGroup, b.Accounts[of].ID, application.Draft{Name: fmt.Sprintf("Application %d", rank+1)})
			b.Owned[rank] = owned{made.ID, of}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	b.spread()
	return b.price(ctx, pool)
}

// The parts of all calls in the crowded and in the busy hour.
const (
	crowdedPart = 0.1
	busyPart    = 0.01
)

// spread gives each rank one of its account's applications such that every shard gets as many calls.
func (b *bench) spread() {
	law, load := shares(len(b.Owned)), make([]float64, b.shards)
	for rank := range b.Owned {
		least := slices.Index(load, slices.Min(load))
		for other := rank; other < len(b.Owned); other += len(b.Accounts) { // of the same account
			if cluster.Of(b.Owned[other].ID, b.shards) == least {
				b.Owned[rank], b.Owned[other] = b.Owned[other], b.Owned[rank]
				break
			}
		}
		share := (1 - crowdedPart - busyPart) * law[rank]
		switch rank {
		case 0:
			share += crowdedPart
		case 1:
			share += busyPart
		}
		load[cluster.Of(b.Owned[rank].ID, b.shards)] += share
	}
}

func emailOf(number int) string { return fmt.Sprintf("account%d@example.com", number) }

func signedIn(ctx context.Context, pool *pgxpool.Pool, number int) (account, error) {
	one := account{uuid.New(), base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf("%032d", number)))}
	email := emailOf(number)
	if _, err := pool.Exec(ctx, `INSERT INTO users (id, email) VALUES ($1, $2)`, one.ID, email); err != nil {
		return one, fmt.Errorf("user: %w", err)
	}
	hash := sha256.Sum256([]byte(one.Session))
	_, err := pool.Exec(ctx, `INSERT INTO sessions (id, audience, user_id, email, token_hash, expires_at)
		VALUES ($1, 'callgate-console', $2, $3, $4, now() + interval '30 days')`, uuid.New(), one.ID, email, hash[:])
	if err != nil {
		return one, fmt.Errorf("session: %w", err)
	}
	return one, nil
}

// cut writes which application each slot of the law belongs to; a call draws a slot.
func (b *bench) cut(ctx context.Context, l *ledger) error {
	const table = `CREATE OR REPLACE TABLE bench_slots (slot UInt32, application_id UUID, user_id UUID) ENGINE = MergeTree ORDER BY slot`
	if _, err := l.ask(ctx, table); err != nil {
		return err
	}
	var lines strings.Builder
	lines.WriteString("INSERT INTO bench_slots FORMAT TabSeparated\n")
	rank, reached := 0, 0.0
	law := shares(len(b.Owned))
	for slot := range slots {
		for rank+1 < len(law) && float64(slot)/slots >= reached+law[rank] {
			reached += law[rank]
			rank++
		}
		fmt.Fprintf(&lines, "%d\t%s\t%s\n", slot, b.Owned[rank].ID, b.Accounts[b.Owned[rank].Account].ID)
	}
	_, err := l.ask(ctx, lines.String())
	return err
}

// write fills a ledger, once: day by day, and a tenth and a hundredth of the rows in one hour each.
func (b *bench) write(ctx context.Context, l *ledger) error {
	if l.Written > 0 {
		return nil
	}
	if err := b.cut(ctx, l); err != nil {
		return err
	}
	crowded, busy := l.rows/10, l.rows/100
	spread := l.rows - crowded - busy
	from := b.Today - beijing.Day(b.days) + 1
	for i := range int64(b.days) {
		day := from + beijing.Day(i)
		n := spread*(i+1)/int64(b.days) - spread*i/int64(b.days)
		start, length := day.Start(), 24*time.Hour
		if day == b.Today {
			length = max(time.Since(start)-time.Minute, time.Second).Truncate(time.Millisecond)
		}
		if err := b.insert(ctx, l, n, start, length, nil); err != nil {
			return err
		}
	}
	l.InHour = [2]int64{crowded, busy}
	for i, hour := range []struct {
		day beijing.Day
		n   int64
	}{{b.crowdedDay(), crowded}, {b.busyDay(), busy}} {
		start := hour.day.Start().Add(hourOfDay * time.Hour)
		if err := b.insert(ctx, l, hour.n, start, time.Hour, &b.Owned[i]); err != nil {
			return err
		}
	}
	return nil
}

// blockRows is the most one INSERT holds.
const blockRows = 1_000_000

// insert writes n calls that start in length from start, of one application or drawn by the law.
func (b *bench) insert(ctx context.Context, l *ledger, n int64, start time.Time, length time.Duration, of *owned) error {
	for n > 0 {
		part := min(n, blockRows)
		one, owner := uuid.Nil, uuid.Nil
		if of != nil {
			one, owner = of.ID, b.Accounts[of.Account].ID
		}
		_, err := l.ask(ctx, insertCalls, "from", l.Written, "rows", part, "start", start.UnixMilli(),
			"length", length.Milliseconds(), "application", one, "user", owner, "slots", slots, "models", models)
		if err != nil {
			return err
		}
		l.Written += part
		n -= part
	}
	return nil
}

// insertCalls makes calls out of their numbers alone. Ids are UUIDv7 of the start millisecond.
const insertCalls = `
INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success, streamed, first_byte_ms,
    ended_by, reason_type, reason_code, upstream_status, request_bytes, response_bytes, batch_id,
    usage_state, upstream_model, input_tokens, output_tokens, cached_tokens, reasoning_tokens,
    key_id, tags.name, tags.value, end_user, stamped, recorded_at)
SELECT
    if({application:UUID} = toUUID('00000000-0000-0000-0000-000000000000'), s.application_id, {application:UUID}),
    fromUnixTimestamp64Milli(ms, 'Asia/Shanghai'),
    reinterpretAsUUID(concat(
        reinterpretAsFixedString(bitOr(bitShiftLeft(toUInt64(ms), 16), toUInt64(0x7000 + cityHash64(n, 3) % 4096))),
        reinterpretAsFixedString(bitOr(bitShiftRight(cityHash64(n, 4), 2), 0x8000000000000000)))),
    if({application:UUID} = toUUID('00000000-0000-0000-0000-000000000000'), s.user_id, {user:UUID}),
    concat('model-', toString(1 + floor({models:UInt8} * pow(cityHash64(n, 5) % 10000 / 10000, 2)))),
    toUInt32(exp(3 + 7 * pow(cityHash64(n, 6) % 100000 / 100000, 1.5))) AS took,
    if(good, 200, [502, 504, 429, 500, 503, 403][kind]) AS status, cityHash64(n, 7) % 100 < 97 AS good, cityHash64(n, 8) % 3 = 0, intDiv(took, 2),
    'complete', if(good, '', ['connection_failed', 'timeout', 'upstream_http_error', 'upstream_http_error', 'upstream_http_error', 'permission_denied'][kind]),
    if(good, '', ['upstream_unreachable', 'upstream_timeout', 'upstream_status', 'upstream_status', 'upstream_status', 'capability_not_bound'][kind]),
    if(good OR status IN (429, 500, 503), status, 0),
    500 + cityHash64(n, 9) % 3000, 500 + cityHash64(n, 10) % 9000, concat('bench/', toString({from:UInt64})),
    multiIf(NOT good, 'none', cityHash64(n, 11) % 10 < 2, 'absent', 'reported') AS state,
    if(state = 'reported', concat('upstream-', toString(cityHash64(n, 12) % 3)), ''),
    if(state = 'reported', toUInt32(100 + cityHash64(n, 13) % 8000), NULL), if(state = 'reported', toUInt32(1 + cityHash64(n, 14) % 2000), NULL),
    if(state = 'reported' AND cityHash64(n, 15) % 3 = 0, toUInt32(cityHash64(n, 15) % 100), NULL),
    if(state = 'reported' AND cityHash64(n, 16) % 4 = 0, toUInt32(cityHash64(n, 16) % 500), NULL),
    toUUID(concat('0190ca11-0000-7000-8000-00000000000', toString(1 + cityHash64(n, 18) % 3))),
    if(cityHash64(n, 19) % 2 = 0, ['feature', 'team'], []) AS tags,
    if(empty(tags), [], ['feature-' || toString(cityHash64(n, 20) % 30), 'team-' || toString(cityHash64(n, 21) % 8)]),
    if(cityHash64(n, 22) % 2 = 0, lower(hex(cityHash64(cityHash64(n, 23) % 5000, slot))), ''),
    true, least(fromUnixTimestamp64Milli(ms, 'Asia/Shanghai') + toIntervalMillisecond(took + 500), now64(3, 'Asia/Shanghai'))
FROM (
    SELECT number AS n, 1 + cityHash64(n, 17) % 6 AS kind, toUInt32(cityHash64(n, 1) % {slots:UInt32}) AS slot, {start:Int64} + toInt64(cityHash64(n, 2) % {length:UInt64}) AS ms
    FROM numbers({from:UInt64}, {rows:UInt64})
) AS made
JOIN bench_slots AS s USING (slot)
SETTINGS min_insert_block_size_rows = 1048576, max_block_size = 262144`
