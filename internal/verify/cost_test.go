package verify

import (
	"fmt"
	"math/big"
	"os"
	"slices"
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
	tier              string
	band              int64
	more              map[string]int64 // of other meters
}

// A year with three changes, two currencies, a model with a price of its own, a tier, a band, other meters, and a capability
// without any.
var yearOfPrices = []bookRow{
	{capability: "gpt", tier: "flex", from: 40, currency: "USD", input: 12_500, output: 50_000, cached: 6_250, write: -1},
	{capability: "gpt", band: 200_000, from: 100, currency: "CNY", input: 250_000, output: 800_000, cached: -1, write: -1, more: map[string]int64{"web_searches": 700_000, "images": 3, "output_image": 950_001}},
	{capability: "claude", tier: "flex", band: 1_000_000, from: 10, currency: "CNY", input: 7, output: 9, cached: 1, write: 8, more: map[string]int64{"cache_write_1h": 11, "pages": 25}},
	{capability: "claude", from: 150, currency: "USD", input: 30_000, output: 150_000, cached: 3_000, write: 37_500, more: map[string]int64{"cache_write_1h": 60_000, "web_searches": 100_000, "reasoning": 7,
		"cache_write_5m": 40_000, "cache_write_12h": 99_999, "input_audio": 77_001, "input_image": 3, "output_audio": 111_111, "search_units": 20_000, "tool_calls": 1,
		"images": 400, "pages": 12, "characters": 150_000, "milliseconds": 1}},
	{capability: "gpt", model: "", from: 20, currency: "USD", input: 25_000, output: 100_000, cached: 12_500, write: -1},
	{capability: "gpt", model: "", from: 120, currency: "USD", input: 19_999, output: 80_001, cached: 1, write: 24_999},
	{capability: "gpt", model: "", from: 250, currency: "CNY", input: 143_333, output: 571_111, cached: -1, write: -1},
	{capability: "gpt", model: "gpt-mini", from: 60, currency: "CNY", input: 10_500, output: 42_000, cached: 5_250, write: 0},
	{capability: "claude", model: "", from: 0, currency: "CNY", input: 210_000, output: 1_050_000, cached: 21_000, write: 262_500},
	{capability: "claude", model: "", from: 300, currency: "USD", input: 30_000, output: 150_000, cached: 3_000, write: 37_500},
}

// yearOfRates are rates between currencies, in ten-thousandths; days as those of yearOfPrices.
var yearOfRates = []struct {
	currency, to string
	from         int
	rate         int64
}{{"USD", "CNY", 0, 71_000}, {"USD", "CNY", 200, 72_503}, {"CNY", "USD", 150, 1_399}}

// rateOf is the last one that had begun; 0: none had.
func rateOf(currency, to string, day int) (rate int64) {
	if currency == to {
		return 10_000
	}
	for _, r := range yearOfRates {
		if r.currency == currency && r.to == to && r.from <= day {
			rate = r.rate
		}
	}
	return rate
}

// countedCall is what a row of calls says of a call's tokens.
type countedCall struct {
	application, key             uuid.UUID
	day                          int
	capability, model            string
	known                        bool
	input, output, cached, write int64
	lines                        []countedLine // nil: the numbers above say all
}

// countedLine is one of a call's lines.
type countedLine struct {
	model, tier string
	band        int64
	meters      map[string]int64
}

// costs are amounts by currency in units of 1e-10, and the calls in them.
type costs struct {
	amount   map[string]*big.Int
	calls    map[string]int64
	total    map[string]*big.Int // in units of 1e-14
	missing  map[string]string   // a currency without a rate to it
	strange  map[string]int64    // calls without a rate to it
	unpriced int64
}

func (c *costs) add(call countedCall) {
	lines := call.lines
	if lines == nil {
		if !call.known {
			return
		}
		lines = []countedLine{{model: call.model, meters: map[string]int64{"input": call.input, "output": call.output, "cached_input": call.cached, "cache_write": call.write}}}
	}
	for i, line := range lines {
		currency, amount, known := costOf(call, line)
		if !known {
			c.unpriced++
			continue
		}
		if c.amount == nil {
			c.amount, c.calls = map[string]*big.Int{}, map[string]int64{}
			c.total, c.missing = map[string]*big.Int{"CNY": new(big.Int), "USD": new(big.Int)}, map[string]string{}
			c.strange = map[string]int64{}
		}
		if c.amount[currency] == nil {
			c.amount[currency] = new(big.Int)
		}
		c.amount[currency].Add(c.amount[currency], amount)
		for to, total := range c.total {
			if rate := rateOf(currency, to, call.day); rate != 0 {
				total.Add(total, new(big.Int).Mul(amount, big.NewInt(rate)))
			} else {
				if c.missing[to] = currency; i == 0 {
					c.strange[to]++
				}
			}
		}
		if i == 0 {
			c.calls[currency]++
		}
	}
}

// believedCapability is the one whose provider is believed; empty: none.
var believedCapability string

// costOf is what a line costs, in units of 1e-10; false: nobody knows.
func costOf(call countedCall, line countedLine) (currency string, amount *big.Int, known bool) {
	if believedCapability != "" && call.capability == believedCapability && line.meters["cost_reports"] > 0 {
		return "USD", big.NewInt(line.meters["reported_cost"]), true
	}
	price := priceOf(call, line)
	if price == nil {
		return "", nil, false
	}
	for name := range besides {
		if line.meters[name] > 0 && price.more[name] == 0 {
			return "", nil, false
		}
	}
	return price.currency, big.NewInt(price.of(line.meters)), true
}

// besides are what is used besides tokens, and how many times 1e-10 an amount of a ten-thousandth is for one of them.
var besides = map[string]int64{"search_units": 1_000, "web_searches": 1_000, "tool_calls": 1_000, "images": 1_000_000, "pages": 1_000_000, "characters": 1, "milliseconds": 1_000}

// of is what meters cost, in units of 1e-10.
func (p *bookRow) of(n map[string]int64) (cost int64) {
	// Of a whole, what none of its parts is: a part costs what its whole does where it has no amount of its own.
	rest := func(whole string, amount int64, parts ...string) {
		left := n[whole]
		for _, part := range parts {
			left -= n[part]
			own, has := p.more[part]
			if !has {
				own = amount
			}
			cost += n[part] * own
		}
		cost += left * amount
	}
	cached, write := p.cached, p.write
	if cached < 0 {
		cached = p.input
	}
	if write < 0 {
		write = p.input
	}
	rest("cache_write", write, "cache_write_5m", "cache_write_30m", "cache_write_1h", "cache_write_12h")
	rest("input", p.input, "input_audio", "input_image", "input_video")
	cost += n["cached_input"]*(cached-p.input) - n["cache_write"]*p.input
	rest("output", p.output, "reasoning", "output_audio", "output_image")
	for name, per := range besides {
		cost += n[name] * p.more[name] * per
	}
	return cost
}

// priceOf walks through the whole book: that of the model itself counts first, then that of the tier, then that of the
// longest calls, then the newest.
func priceOf(call countedCall, line countedLine) (best *bookRow) {
	rank := func(row *bookRow) []int64 {
		of := []int64{0, 0, row.band, int64(row.from)}
		if row.model != "" {
			of[0] = 1
		}
		if row.tier != "" {
			of[1] = 1
		}
		return of
	}
	for i := range yearOfPrices {
		row := &yearOfPrices[i]
		if row.capability != call.capability || row.from > call.day || row.band > line.band || row.model != "" && row.model != line.model || row.tier != "" && row.tier != line.tier {
			continue
		}
		if best == nil || slices.Compare(rank(row), rank(best)) > 0 {
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
	said := fmt.Sprintf("%s, %d without a price", strings.Join(all, ", "), c.unpriced)
	for _, currency := range []string{"CNY", "USD"} {
		switch total := c.total[currency]; {
		case total == nil:
		case c.missing[currency] != "":
			said += fmt.Sprintf("; in %s unknown for %s", currency, c.missing[currency])
		default:
			said += fmt.Sprintf("; in %s %s", currency, new(big.Rat).SetFrac(total, big.NewInt(1e14)).FloatString(14))
		}
	}
	return said
}

func answered(t *testing.T, of []openapi.Cost, totals []openapi.CostTotal) string {
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
	said := fmt.Sprintf("%s, %d without a price", strings.Join(all, ", "), unpriced)
	for _, total := range totals {
		if total.Amount == nil {
			said += fmt.Sprintf("; in %s unknown for %s", total.Currency, strings.Join(total.Missing, " "))
			continue
		}
		amount, ok := new(big.Rat).SetString(*total.Amount)
		if !ok || len(total.Missing) > 0 {
			t.Fatalf("total %+v", total)
		}
		said += fmt.Sprintf("; in %s %s", total.Currency, amount.FloatString(14))
	}
	return said
}

// TestEveryCostIsThatOfItsRows compares every cost that is answered about a year with one computed here from the
// rows of calls, the prices and the rates above, and again after a price was corrected. COST_CALLS says how many rows.
func TestEveryCostIsThatOfItsRows(t *testing.T) {
	w := newWorld(t)
	first := beijing.Today(time.Now()) - 365
	for _, id := range []string{"gpt", "claude", "free"} {
		w.capability(id)
	}
	for _, row := range yearOfPrices {
		w.put(first, row)
	}
	for _, r := range yearOfRates {
		if _, err := w.deps.Pricing.PutExchange(w.Ctx, "root@example.com", pricing.ExchangeDraft{Currency: r.currency, ToCurrency: r.to,
			From: (first + beijing.Day(r.from)).String(), Rate: fmt.Sprintf("%d.%04d", r.rate/10_000, r.rate%10_000)}); err != nil {
			t.Fatal(err)
		}
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
	w.linedYear(applications, first, n/20)
	if compared := w.compareCosts(t, owner, applications, first); compared < 2000 {
		t.Errorf("only %d costs were compared", compared)
	}
	w.compareBudgets(t, owner, applications, first)

	const at = 5
	corrected := yearOfPrices[at]
	defer func() { yearOfPrices[at] = corrected }()
	yearOfPrices[at].output = 79_990
	w.put(first, yearOfPrices[at])
	w.compareCosts(t, owner, applications, first)
	w.compareBudgets(t, owner, applications, first)

	defer func() { believedCapability = "" }()
	believedCapability = "claude"
	if err := w.deps.Pricing.Believe(w.Ctx, "root@example.com", believedCapability, true); err != nil {
		t.Fatal(err)
	}
	w.compareCosts(t, owner, applications, first)
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
	compare := func(key string, of openapi.MetricsFields) {
		t.Helper()
		compared++
		expected := ""
		if c := want[key]; c != nil {
			expected = c.String()
		}
		if got := answered(t, of.Cost, of.Totals); got != expected {
			t.Errorf("%s: %s, the rows say %s", key, got, expected)
		}
	}
	days := beijing.Range{Start: first, End: first + 365}
	blocks := func(of string, daily []openapi.DayMetrics, models []openapi.ModelMetrics) {
		for _, day := range daily {
			compare(of+"/day "+strconv.Itoa(int(day.Date-first)), day.MetricsFields)
		}
		for _, model := range models {
			compare(of+"/model "+model.Model, model.MetricsFields)
		}
	}
	overview, err := w.deps.Answers.Overview(w.Ctx, owner, days)
	if err != nil {
		t.Fatal(err)
	}
	compare("", overview.MetricsFields)
	blocks("", overview.Daily, overview.Models)
	list, err := w.deps.Answers.ApplicationList(w.Ctx, owner, report.ApplicationChoice{Days: days}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range list.Items {
		compare(line.ID.String(), line.MetricsFields)
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
		compare(id.String(), detail.Summary.MetricsFields)
		blocks(id.String(), detail.Daily, detail.Models)
	}
	return compared
}
