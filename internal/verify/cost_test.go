package verify

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/report"
)

// bookRow is a price as this test knows it: rates in ten-thousandths for a million tokens, days counted from the
// first one of the year that is priced.
type bookRow struct {
	capability, model string
	from              int
	currency          string
	input, output     int64
	cached, write     int64 // -1: as input
}

// A year with three changes, two currencies, a model with a price of its own, and a capability without any.
var yearOfPrices = []bookRow{
	{"gpt", "", 20, "USD", 25_000, 100_000, 12_500, -1},
	{"gpt", "", 120, "USD", 19_999, 80_001, 1, 24_999},
	{"gpt", "", 250, "CNY", 143_333, 571_111, -1, -1},
	{"gpt", "gpt-mini", 60, "CNY", 10_500, 42_000, 5_250, 0},
	{"claude", "", 0, "CNY", 210_000, 1_050_000, 21_000, 262_500},
	{"claude", "", 300, "USD", 30_000, 150_000, 3_000, 37_500},
}

// countedCall is what a row of calls says of a call's tokens.
type countedCall struct {
	application                  uuid.UUID
	day                          int
	capability, model            string
	known                        bool
	input, output, cached, write int64
}

// costs are amounts by currency in units of 1e-10, and the calls in them.
type costs struct {
	amount   map[string]*big.Int
	calls    map[string]int64
	unpriced int64
}

func (c *costs) add(call countedCall) {
	if !call.known {
		return
	}
	price := priceOf(call)
	if price == nil {
		c.unpriced++
		return
	}
	if c.amount == nil {
		c.amount, c.calls = map[string]*big.Int{}, map[string]int64{}
	}
	if c.amount[price.currency] == nil {
		c.amount[price.currency] = new(big.Int)
	}
	cached, write := price.cached, price.write
	if cached < 0 {
		cached = price.input
	}
	if write < 0 {
		write = price.input
	}
	n := (call.input-call.cached-call.write)*price.input + call.cached*cached + call.write*write + call.output*price.output
	c.amount[price.currency].Add(c.amount[price.currency], big.NewInt(n))
	c.calls[price.currency]++
}

// priceOf walks through the whole book: that of the model itself counts first, then the newest.
func priceOf(call countedCall) (best *bookRow) {
	for i := range yearOfPrices {
		row := &yearOfPrices[i]
		if row.capability != call.capability || row.from > call.day || row.model != "" && row.model != call.model {
			continue
		}
		if best == nil || row.model != "" && best.model == "" || (row.model == "") == (best.model == "") && row.from > best.from {
			best = row
		}
	}
	return best
}

// String is in the form of the answers below.
func (c *costs) String() string {
	var all []string
	for _, currency := range []string{"CNY", "USD"} {
		if amount := c.amount[currency]; amount != nil {
			all = append(all, fmt.Sprintf("%s %s of %d", currency, new(big.Rat).SetFrac(amount, big.NewInt(1e10)).FloatString(10), c.calls[currency]))
		}
	}
	if len(all) == 0 && c.unpriced == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %d without a price", strings.Join(all, ", "), c.unpriced)
}

func answered(t *testing.T, of []openapi.Cost) string {
	t.Helper()
	var all []string
	unpriced := int64(0)
	for _, cost := range of {
		unpriced = cost.UnpricedCalls
		if cost.Amount == nil {
			continue
		}
		amount, ok := new(big.Rat).SetString(*cost.Amount)
		if !ok {
			t.Fatalf("amount %q", *cost.Amount)
		}
		all = append(all, fmt.Sprintf("%s %s of %d", *cost.Currency, amount.FloatString(10), cost.PricedCalls))
	}
	if len(of) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %d without a price", strings.Join(all, ", "), unpriced)
}

// TestEveryCostIsThatOfItsRows compares every cost that is answered about a year with one computed here from the
// rows of calls and the prices above, and again after a price was corrected. COST_CALLS says how many rows.
func TestEveryCostIsThatOfItsRows(t *testing.T) {
	w := newWorld(t)
	first := beijing.Today(time.Now()) - 365
	for _, id := range []string{"gpt", "claude", "free"} {
		w.capability(id)
	}
	for _, row := range yearOfPrices {
		w.put(first, row)
	}
	owner := w.owner("ada")
	var applications []uuid.UUID
	for i := range 5 {
		applications = append(applications, w.application(owner, fmt.Sprint("application ", i)))
	}
	n := 100_000
	if more, err := strconv.Atoi(os.Getenv("COST_CALLS")); err == nil {
		n = more
	}
	w.randomYear(applications, first, n)
	if compared := w.compareCosts(t, owner, applications, first); compared < 2000 {
		t.Errorf("only %d costs were compared", compared)
	}

	corrected := yearOfPrices[1]
	defer func() { yearOfPrices[1] = corrected }()
	yearOfPrices[1].output = 79_990
	w.put(first, yearOfPrices[1])
	w.compareCosts(t, owner, applications, first)
}

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
	if _, err := w.deps.Pricing.Put(w.Ctx, "root@example.com", draft); err != nil {
		w.T.Fatal(err)
	}
}

// randomYear stores n calls of a year with tokens of all kinds, some without, a month in an insert.
func (w *world) randomYear(applications []uuid.UUID, first beijing.Day, n int) {
	w.T.Helper()
	for month := 0; month < 12; month++ {
		w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, upstream_model,
				input_tokens, output_tokens, cached_tokens, cache_write_tokens)
			WITH ($2 + (rand64(1) % 30 + $3) * 86400000 + rand64(2) % 86400000) AS start, rand(3) % 10 AS kind,
				if(kind < 7, rand(4) % 200000, NULL) AS input, if(kind < 5, rand(5) % (assumeNotNull(input) + 1), NULL) AS cached
			SELECT arrayElement($1, rand(6) % 5 + 1), fromUnixTimestamp64Milli(toInt64(start)), generateUUIDv7(number), ['gpt', 'claude', 'free', ''][rand(7) % 4 + 1], 10, 200, true, 'complete',
				if(kind < 8, 'reported', 'absent'), ['', 'gpt-mini', 'gpt-max'][rand(8) % 3 + 1],
				input, if(kind < 8, rand(9) % 20000, NULL), cached, if(kind < 3, rand(10) % (assumeNotNull(input) - assumeNotNull(cached) + 1), NULL)
			FROM numbers($4) SETTINGS max_partitions_per_insert_block = 1000`, applications, first.Start().UnixMilli(), month*30, n/12)
	}
}

// compareCosts tells how many costs there were.
func (w *world) compareCosts(t *testing.T, owner uuid.UUID, applications []uuid.UUID, first beijing.Day) (compared int) {
	t.Helper()
	want := map[string]*costs{}
	w.eachCounted(first, func(call countedCall) {
		for _, of := range []string{"", call.application.String()} {
			for _, part := range []string{"", "/day " + strconv.Itoa(call.day), "/model " + call.capability} {
				if want[of+part] == nil {
					want[of+part] = &costs{}
				}
				want[of+part].add(call)
			}
		}
	})
	compare := func(key string, of []openapi.Cost) {
		t.Helper()
		compared++
		expected := ""
		if c := want[key]; c != nil {
			expected = c.String()
		}
		if got := answered(t, of); got != expected {
			t.Errorf("%s: %s, the rows say %s", key, got, expected)
		}
	}
	days := beijing.Range{Start: first, End: first + 365}
	blocks := func(of string, daily []openapi.DayMetrics, models []openapi.ModelMetrics) {
		for _, day := range daily {
			compare(of+"/day "+strconv.Itoa(int(day.Date-first)), day.Cost)
		}
		for _, model := range models {
			compare(of+"/model "+model.Model, model.Cost)
		}
	}
	overview, err := w.deps.Answers.Overview(w.Ctx, owner, days)
	if err != nil {
		t.Fatal(err)
	}
	compare("", overview.Cost)
	blocks("", overview.Daily, overview.Models)
	list, err := w.deps.Answers.ApplicationList(w.Ctx, owner, report.ApplicationChoice{Days: days}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range list.Items {
		compare(line.ID.String(), line.Cost)
	}
	for _, id := range applications {
		a, err := w.deps.Applications.Get(w.Ctx, owner, id)
		if err != nil {
			t.Fatal(err)
		}
		detail, err := w.deps.Answers.ApplicationDetail(w.Ctx, a, days)
		if err != nil {
			t.Fatal(err)
		}
		compare(id.String(), detail.Summary.Cost)
		blocks(id.String(), detail.Daily, detail.Models)
	}
	return compared
}

// eachCounted reads the rows of calls.
func (w *world) eachCounted(first beijing.Day, take func(countedCall)) {
	w.T.Helper()
	rows, err := w.clickhouse.QueryContext(context.Background(), `SELECT application_id, toUnixTimestamp64Milli(start_time), toString(model), toString(upstream_model),
		input_tokens IS NOT NULL OR output_tokens IS NOT NULL, toInt64(coalesce(input_tokens, 0)), toInt64(coalesce(output_tokens, 0)),
		toInt64(coalesce(cached_tokens, 0)), toInt64(coalesce(cache_write_tokens, 0)) FROM calls`)
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var call countedCall
		var ms int64
		if err := rows.Scan(&call.application, &ms, &call.capability, &call.model, &call.known, &call.input, &call.output, &call.cached, &call.write); err != nil {
			w.T.Fatal(err)
		}
		const hour = 3_600_000
		call.day = int((ms+8*hour)/(24*hour)) - int(first)
		take(call)
	}
	if err := rows.Err(); err != nil {
		w.T.Fatal(err)
	}
}
