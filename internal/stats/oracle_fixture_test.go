package stats_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/application"
	"callgate/internal/calls"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

// furnish makes an account with two pages of applications, one with a few and one with none, and
// returns an application that is deleted.
func (o *oracle) furnish(pool *pgxpool.Pool, store *application.Store) registered {
	o.t.Helper()
	ctx := o.t.Context()
	var gone registered
	if _, err := pool.Exec(ctx, `UPDATE collection SET statistics_days = 36500, call_days = 36500`); err != nil { // as for the tables below
		o.t.Fatal(err)
	}
	for account, n := range []int{13, 3, 0} {
		owner, session := uuid.New(), fmt.Sprintf("%043d", account)
		email := fmt.Sprintf("account%d@example.com", account)
		hash := sha256.Sum256([]byte(session))
		_, err := pool.Exec(ctx, `INSERT INTO users (id, email) VALUES ($1, $2)`, owner, email)
		if err == nil {
			_, err = pool.Exec(ctx, `INSERT INTO sessions (id, audience, user_id, email, token_hash, expires_at)
				VALUES ($1, 'callgate-console', $2, $3, $4, now() + interval '1 day')`, uuid.New(), owner, email, hash[:])
		}
		if err != nil {
			o.t.Fatal(err)
		}
		o.sessions, o.owners = append(o.sessions, session), append(o.owners, owner)
		var list []registered
		for i := range n {
			made, _, err := store.Create(ctx, owner, application.Draft{Name: fmt.Sprintf("application %d", i)})
			if err != nil {
				o.t.Fatal(err)
			}
			one := registered{made.ID, made.Name, "active"}
			switch {
			case account == 0 && i == 7:
				gone, err = one, store.Delete(ctx, owner, made.ID)
			case i%4 == 1:
				one.status = "disabled"
				_, err = store.SetStatus(ctx, owner, made.ID, "disabled")
			}
			if err != nil {
				o.t.Fatal(err)
			}
			if one.id != gone.id {
				list = slices.Insert(list, 0, one)
			}
		}
		o.accounts = append(o.accounts, list)
	}
	return gone
}

// fill makes the calls and writes them, with times in the zone this process lives in.
func (o *oracle) fill(clickhouseURL string, deleted registered) {
	o.t.Helper()
	options, _, err := cluster.Parse(clickhouseURL)
	if err != nil {
		o.t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, table := range []string{"calls", "call_failures", "usage_daily", "usage_hourly", "tokens_daily", "tokens_hourly", "meters_daily", "meters_hourly", "keys_daily", "failures_daily"} { // the clock stands in years gone by
		embedded.OnShards(o.t, clickhouseURL, "ALTER TABLE "+table+" REMOVE TTL")
	}
	owned, swept := slices.Concat(o.accounts...), o.random.IntN(2)
	if swept == 0 {
		owned = append(owned, deleted)
	}
	for _, start := range o.starts(3_000) {
		// The first applications are called most, the last one never.
		a := owned[int(float64(len(owned)-1)*math.Pow(o.random.Float64(), 2))]
		o.records = append(o.records, o.record(a.id, start))
		if swept == 0 && o.random.IntN(60) == 0 {
			o.records = append(o.records, o.record(deleted.id, start))
		}
	}
	for part := range slices.Chunk(o.records, 2000) {
		if err := write(conn, part); err != nil {
			o.t.Fatal(err)
		}
	}
}

// starts are moments on few days (each is a partition to write): both edges of midnights to the
// millisecond, year's ends, leap days, the edges of ranges and of what is retained, crowded seconds.
func (o *oracle) starts(n int) (list []time.Time) {
	local := o.now.In(beijingZone)
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, beijingZone)
	midnights := []time.Time{
		today, today.AddDate(0, 0, 1), today.AddDate(0, 0, -1), today.AddDate(0, 0, -6), today.AddDate(0, 0, -29), today.AddDate(0, 0, -30),
		today.AddDate(0, 0, -365), today.AddDate(0, 0, -366), today.AddDate(0, 0, -399), today.AddDate(0, 0, -400),
		time.Date(2023, 12, 31, 0, 0, 0, 0, beijingZone), time.Date(2024, 1, 1, 0, 0, 0, 0, beijingZone),
		time.Date(2024, 2, 29, 0, 0, 0, 0, beijingZone), time.Date(2024, 3, 1, 0, 0, 0, 0, beijingZone),
		time.Date(2024, 12, 31, 0, 0, 0, 0, beijingZone), time.Date(2025, 1, 1, 0, 0, 0, 0, beijingZone),
	}
	for range 3 {
		midnights = append(midnights, today.AddDate(0, 0, -o.random.IntN(380)))
	}
	latest := o.now.Add(2 * time.Minute) // a gateway's clock may be ahead
	for len(list) < n {
		start := midnights[o.random.IntN(len(midnights))]
		switch o.random.IntN(6) {
		case 0:
			start = start.Add(-time.Millisecond)
		case 1:
		case 2:
			start = o.now.Add(-time.Duration(o.random.IntN(90_000)) * time.Millisecond) // the newest
		case 3:
			start = start.Add(time.Duration(9*3600_000+o.random.IntN(4_000)) * time.Millisecond) // crowded
		default:
			start = start.Add(time.Duration(o.random.IntN(86_400_000)) * time.Millisecond)
		}
		if start = start.Truncate(time.Millisecond); !start.After(latest) {
			list = append(list, start.In(time.Local))
		}
	}
	return list
}

func (o *oracle) record(application uuid.UUID, start time.Time) record {
	random := o.random
	r := record{application: application, id: calls.NewCallID(start), start: start, model: []string{"", "gpt", "claude", "rare"}[min(random.IntN(7)/2, 3)],
		took: int64(math.Exp(random.Float64()*15)) - 1, status: 200, success: true, streamed: random.IntN(3) == 0, endedBy: "complete", upstream: 200}
	if random.IntN(2) == 0 {
		first := r.took / 3
		r.firstByte = &first
	}
	r.sentTo, r.attempts = []string{"", "eu", "us"}[random.IntN(3)], uint8(random.IntN(3))
	if r.attempts > 1 && random.IntN(3) > 0 {
		r.failedAt, r.failed = []string{"eu", "us", "down"}[random.IntN(3)], r.took/4
	}
	if random.IntN(4) > 0 {
		if random.IntN(9) == 0 {
			r.status = 201
		}
		r.reported = reportedAt(random, r.status, r.upstream)
		return r
	}
	r.success = false
	switch random.IntN(3) {
	case 0:
		r.status, r.reason, r.code, r.upstream = 429, "upstream_http_error", "upstream_status", 429
	case 1:
		r.status, r.endedBy, r.reason, r.code = 499, "client_abort", "interrupted", "client_closed"
	default:
		r.status, r.endedBy, r.reason, r.code, r.upstream = 403, "denied", "permission_denied", "application_disabled", 0
	}
	if random.IntN(12) == 0 {
		r.reason, r.code = "", "" // of before there were reasons
	}
	r.reported = reportedAt(random, r.status, r.upstream)
	if random.IntN(5) > 0 {
		r.kept = &kept{[]string{"", fmt.Sprintf("too many requests: %d of your 12,000 in %dms, req_0%dabcdefghijk", random.IntN(9), random.IntN(9), random.IntN(9)), "=1+1 100% _Über " + strings.Repeat("长", 230)}[random.IntN(3)], "POST", "/v1/x", strconv.Itoa(random.IntN(99)), r.model, ""}
		if random.IntN(3) == 0 {
			r.kept.body, r.kept.note = "", "not_json"
		}
	}
	return r
}

func write(conn clickhouse.Conn, records []record) error {
	ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 0}))
	batch, err := conn.PrepareBatch(ctx, `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success,
		streamed, first_byte_ms, ended_by, reason_type, reason_code, upstream_status, request_bytes, response_bytes, batch_id,
		usage_state, upstream_model, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, key_id, upstream_id, attempts,
		failed_upstream_id, failed_ms)`)
	if err != nil {
		return err
	}
	failures, err := conn.PrepareBatch(ctx, `INSERT INTO call_failures (application_id, start_time, call_id, message, method, path, request_body, query,
		body_note, batch_id)`)
	if err != nil {
		return err
	}
	for _, r := range records {
		var first *uint32
		if r.firstByte != nil {
			ms := uint32(*r.firstByte)
			first = &ms
		}
		err := batch.Append(r.application, r.start, r.id, uuid.Nil, r.model, uint32(r.took), uint16(r.status), r.success, r.streamed, first, r.endedBy,
			r.reason, r.code, uint16(r.upstream), uint64(1), uint64(1), "batch",
			r.reported.state, r.reported.upstream, r.reported.numbers[0], r.reported.numbers[1], r.reported.numbers[2], r.reported.numbers[3], r.reported.numbers[4], r.key(), r.sentTo, r.attempts, r.failedAt, uint32(r.failed))
		if err == nil && r.kept != nil {
			body := ""
			if r.kept.body != "" {
				body = `{"n":"` + r.kept.body + `"}`
			}
			err = failures.Append(r.application, r.start, r.id, r.kept.message, r.kept.method, r.kept.path, body, `{"model":"`+r.kept.query+`"}`, r.kept.note, "batch")
		}
		if err != nil {
			return err
		}
	}
	if err := failures.Send(); err != nil {
		return err
	}
	return batch.Send()
}
