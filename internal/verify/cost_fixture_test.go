package verify

import (
	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/pricing"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
)

func (w *world) put(first beijing.Day, row bookRow) {
	w.T.Helper()
	text := func(n int64) string { return fmt.Sprintf("%d.%04d", n/10_000, n%10_000) }
	optional := func(n int64) *string {
		if n < 0 {
			return nil
		}
		s := text(n)
		return &s
	}
	draft := pricing.Draft{CapabilityID: row.capability, From: (first + beijing.Day(row.from)).String(), Currency: row.currency,
		Input: text(row.input), Output: text(row.output), Cached: optional(row.cached), CacheWrite: optional(row.write)}
	if row.model != "" {
		draft.UpstreamModel = &row.model
	}
	if row.tier != "" {
		draft.Tier = &row.tier
	}
	if row.band != 0 {
		draft.FromBand = &row.band
	}
	for meter, amount := range row.more {
		if draft.Amounts == nil {
			draft.Amounts = map[string]string{}
		}
		draft.Amounts[meter] = text(amount)
	}
	if _, err := w.deps.Pricing.Put(w.Ctx, "root@example.com", draft); err != nil {
		w.T.Fatal(err)
	}
}

// keysOfYear are those that its calls are made with, two of each application.
var keysOfYear = func() (keys [10]uuid.UUID) {
	for i := range keys {
		keys[i] = uuid.New()
	}
	return keys
}()

// randomYear stores n calls of a year with tokens of all kinds, some without, a month in an insert.
func (w *world) randomYear(applications []uuid.UUID, first beijing.Day, n int) {
	w.T.Helper()
	for month := 0; month < 12; month++ {
		w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, upstream_model,
				input_tokens, output_tokens, cached_tokens, cache_write_tokens, key_id)
			WITH ($2 + (rand64(1) % 30 + $3) * 86400000 + rand64(2) % 86400000) AS start, rand(3) % 10 AS kind,
				if(kind < 7, rand(4) % 200000, NULL) AS input, if(kind < 5, rand(5) % (assumeNotNull(input) + 1), NULL) AS cached
			SELECT arrayElement($1, rand(6) % 5 + 1), fromUnixTimestamp64Milli(toInt64(start)), generateUUIDv7(number), ['gpt', 'claude', 'free', ''][rand(7) % 4 + 1], 10, 200, true, 'complete',
				if(kind < 8, 'reported', 'absent'), ['', 'gpt-mini', 'gpt-max'][rand(8) % 3 + 1],
				input, if(kind < 8, rand(9) % 20000, NULL), cached, if(kind < 3, rand(10) % (assumeNotNull(input) - assumeNotNull(cached) + 1), NULL), arrayElement($5, 2 * (rand(6) % 5) + rand(11) % 2 + 1)
			FROM numbers($4) SETTINGS max_partitions_per_insert_block = 1000`, applications, first.Start().UnixMilli(), month*30, n/12, keysOfYear[:])
	}
}

// linedYear stores n calls of a year that have lines: of two models, tiers, bands and all meters, and what some providers say of
// their cost.
func (w *world) linedYear(applications []uuid.UUID, first beijing.Day, n int) {
	w.T.Helper()
	random := rand.New(rand.NewPCG(7, 8))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var rows []ledgerCall
	for range n {
		lines := []calls.Line{{Model: pick("", "gpt-mini", "gpt-max"), Tier: pick("", "", "flex", "priority")}}
		if random.IntN(3) == 0 {
			lines = append(lines, calls.Line{Model: pick("gpt-mini", "gpt-nano"), Tier: pick("", "flex")})
		}
		for i := range lines {
			some := func() uint64 { return random.Uint64N(1000) }
			meters := map[string]uint64{"cached_input": some(), "cache_write_5m": some(), "cache_write_30m": some(), "cache_write_1h": some(), "cache_write_12h": some(),
				"input_audio": some(), "input_image": some(), "input_video": some(), "reasoning": some(), "output_audio": some(), "output_image": some()}
			meters["cache_write"] = some() + meters["cache_write_5m"] + meters["cache_write_30m"] + meters["cache_write_1h"] + meters["cache_write_12h"]
			meters["input"], meters["output"] = 10_000+random.Uint64N(1_200_000), 3_000+random.Uint64N(9000)
			beside := slices.Sorted(maps.Keys(besides))[random.IntN(len(besides))]
			switch random.IntN(5) {
			case 0:
				meters[beside] = 1 + random.Uint64N(9)
			case 1:
				meters = map[string]uint64{beside: 1 + random.Uint64N(50)}
			}
			for name, n := range meters {
				lines[i].Meters = append(lines[i].Meters, calls.Meter{Name: name, Amount: n})
			}
		}
		of := random.IntN(5)
		rows = append(rows, ledgerCall{application: applications[of], key: keysOfYear[2*of+random.IntN(2)], at: first.Start().Add(time.Duration(random.Int64N(365*86_400_000)) * time.Millisecond),
			capability: pick("gpt", "claude", "free", ""), state: pick("reported", "partial"), status: 200, lines: lines,
			charged: calls.Charge{Amount: fmt.Sprintf("0.%010d", random.Int64N(2)*random.Int64N(1e9)), Currency: pick("", "", "USD", "EUR")}})
	}
	w.insertCalls(rows)
}

// ledgerCall is a call as a gateway ships it.
type ledgerCall struct {
	application, key  uuid.UUID
	at                time.Time
	capability, state string
	status            uint16
	estimated         uint32
	lines             []calls.Line
	charged           calls.Charge
}

func (w *world) insertCalls(all []ledgerCall) {
	w.T.Helper()
	ctx := clickhouse.Context(w.Ctx, clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 1000}))
	tx, err := w.clickhouse.BeginTx(ctx, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, upstream_model, "+
		"input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated_tokens, key_id, `used.model`, `used.tier`, `used.band`, `used.meter`, `used.amount`)")
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = insert.Close() }()
	for _, c := range all {
		r := calls.Record{Charged: c.charged}
		r.SetLines(c.lines)
		var models, tiers, meters []string
		var bands []uint32
		var amounts []uint64
		for _, l := range r.Lines {
			for _, m := range l.Meters {
				models, tiers, bands, meters, amounts = append(models, l.Model), append(tiers, l.Tier), append(bands, l.Band), append(meters, m.Name), append(amounts, m.Amount)
			}
		}
		number := func(field calls.UsageFields) *uint32 {
			if n, known := r.Usage.Number(field); known {
				return &n
			}
			return nil
		}
		if _, err := insert.ExecContext(ctx, c.application, c.at, uuid.New(), c.capability, uint32(10), c.status, c.status == 200, "complete", c.state, r.Usage.Model,
			number(calls.UsageInput), number(calls.UsageOutput), number(calls.UsageCached), number(calls.UsageCacheWrite), number(calls.UsageReasoning), c.estimated, c.key,
			models, tiers, bands, meters, amounts); err != nil {
			w.T.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		w.T.Fatal(err)
	}
}

// eachCounted reads the rows of calls.
func (w *world) eachCounted(first beijing.Day, take func(countedCall)) {
	w.T.Helper()
	rows, err := w.clickhouse.QueryContext(context.Background(), `SELECT application_id, key_id, toUnixTimestamp64Milli(start_time), toString(model), toString(upstream_model),
		input_tokens IS NOT NULL OR output_tokens IS NOT NULL, toInt64(coalesce(input_tokens, 0)), toInt64(coalesce(output_tokens, 0)),
		toInt64(coalesce(cached_tokens, 0)), toInt64(coalesce(cache_write_tokens, 0)),
		used.model, used.tier, used.band, used.meter, used.amount FROM calls`)
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var call countedCall
		var ms int64
		var models, tiers, meters []string
		var bands []uint32
		var amounts []uint64
		if err := rows.Scan(&call.application, &call.key, &ms, &call.capability, &call.model, &call.known, &call.input, &call.output, &call.cached, &call.write,
			&models, &tiers, &bands, &meters, &amounts); err != nil {
			w.T.Fatal(err)
		}
		const hour = 3_600_000
		call.day = int((ms+8*hour)/(24*hour)) - int(first)
		for i, meter := range meters {
			last := len(call.lines) - 1
			if last < 0 || call.lines[last].model != models[i] || call.lines[last].tier != tiers[i] || call.lines[last].band != int64(bands[i]) {
				call.lines = append(call.lines, countedLine{models[i], tiers[i], int64(bands[i]), map[string]int64{}})
				last++
			}
			call.lines[last].meters[meter] += int64(amounts[i])
		}
		take(call)
	}
	if err := rows.Err(); err != nil {
		w.T.Fatal(err)
	}
}
