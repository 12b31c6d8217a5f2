package verify

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/invoice"
	"callgate/internal/report"
)

// billedCall is a call as its provider knows it, and what the ledger knows of it.
type billedCall struct {
	capability, model string
	at                time.Time
	used              map[string]uint64 // what is billed
	tier              string
	kind              string // reported, or why the ledger knows less
}

// Of these the ledger knows all, or in some way less than the provider bills.
var lessKnown = []string{"partial", "absent", "absent without a name", "deferred", "aborted", "other", "flex", "unpriced"}

// providerModels are what each provider's capability is answered by, with rates in ten-thousandths for a million tokens, or a
// thousand searches.
var providerModels = map[string]struct {
	models                                        []string
	title                                         string
	input, cached, write5m, write1h, output, each int64
}{
	"openai":    {models: []string{"gpt-5-mini-2025-08-07", "gpt-4o-audio-2025"}, input: 2_500, cached: 250, output: 20_000},
	"anthropic": {models: []string{"claude-haiku-4-5-20251001", "claude-opus-4-8"}, input: 10_000, cached: 1_000, write5m: 12_500, write1h: 20_000, output: 50_000, each: 100_000},
	"deepseek":  {models: []string{"deepseek-v4-pro", "deepseek-chat"}, input: 30_000, cached: 10_000, output: 60_000},
	"router":    {models: []string{"openai/gpt-5-2025-08-07", "meta/llama"}, input: 12_500, cached: 1_250, output: 100_000},
}

// cost is what a provider asks for a call, by kind of what it was for, in 1e-10 of its currency: half of it where it is flex.
func (c billedCall) cost() map[string]int64 {
	p, n := providerModels[c.capability], func(meter string) int64 { return int64(c.used[meter]) } //nolint:gosec // small
	of := map[string]int64{
		"input": (n("input") - n("cached_input") - n("cache_write")) * p.input, "cached input": n("cached_input") * p.cached, "output": n("output") * p.output,
		"write 5m": n("cache_write_5m") * p.write5m, "write 1h": n("cache_write_1h") * p.write1h, "searches": n("web_searches") * p.each * 1000,
	}
	for kind := range of {
		if c.tier == "flex" {
			of[kind] /= 2
		}
	}
	return of
}

func (c billedCall) total() (sum int64) {
	for _, cost := range c.cost() {
		sum += cost
	}
	return sum
}

// aMonthOfCalls has some calls of each model on each day, and those that the ledger knows less of on every fifth day.
func aMonthOfCalls(month time.Time) (all []billedCall) {
	random := rand.New(rand.NewPCG(39, 7))
	for day := month; day.Month() == month.Month(); day = day.AddDate(0, 0, 1) {
		for _, capability := range slices.Sorted(maps.Keys(providerModels)) {
			for _, model := range providerModels[capability].models {
				for i := range 12 {
					c := billedCall{capability: capability, model: model, kind: "reported", at: day.Add(time.Duration(random.Int64N(86_400_000)) * time.Millisecond)}
					if i < len(lessKnown) && day.Day()%5 == 0 {
						c.kind = lessKnown[i]
					}
					c.used = map[string]uint64{"input": 4000 + random.Uint64N(150_000), "cached_input": random.Uint64N(1500), "output": 100 + random.Uint64N(4000)}
					c.used["reasoning"] = random.Uint64N(100)
					switch {
					case capability == "anthropic":
						five, hour := random.Uint64N(900), random.Uint64N(900)
						c.used["cache_write"], c.used["cache_write_5m"], c.used["cache_write_1h"] = five+hour, five, hour
						c.used["web_searches"] = random.Uint64N(3)
					case strings.Contains(model, "audio"):
						c.used["input_audio"], c.used["output_audio"] = random.Uint64N(1500), random.Uint64N(90)
					}
					if c.kind == "flex" {
						c.tier = "flex"
					}
					if c.kind == "unpriced" {
						c.used["tool_calls"] = 1 // has no amount in the book, and stands in no form
					}
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// record stores what the ledger knows of calls.
func (w *world) record(application uuid.UUID, all []billedCall) {
	w.T.Helper()
	var rows []ledgerCall
	for _, c := range all {
		row := ledgerCall{application: application, at: c.at, capability: c.capability, state: "reported", status: 200}
		line, known := calls.Line{Model: c.model, Tier: c.tier}, c.used
		switch c.kind {
		case "partial":
			row.state, known = "partial", map[string]uint64{"input": c.used["input"], "output": 1}
		case "absent", "deferred":
			row.state, known = c.kind, nil
		case "absent without a name":
			row.state, known, line.Model = "absent", nil, ""
		case "aborted":
			row.state, row.status, row.estimated, known, line.Model = "none", 499, 5000, nil, ""
		case "other":
			line.Model = "other"
		}
		for name, n := range known {
			line.Meters = append(line.Meters, calls.Meter{Name: name, Amount: n})
		}
		row.lines = []calls.Line{line}
		rows = append(rows, row)
	}
	failed := all[0]
	rows = append(rows, ledgerCall{application: application, at: failed.at, capability: failed.capability, state: "none", status: 502})
	w.insertCalls(rows)
}

// form writes a month of an invoice under the headings of a file of testdata, of lines by their columns.
func form(t *testing.T, file string, lines []map[string]string) []byte {
	t.Helper()
	head, err := os.ReadFile("../invoice/testdata/" + file + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(head), "\n")
	var out strings.Builder
	out.WriteString(first + "\n")
	columns := strings.Split(strings.TrimSpace(strings.TrimPrefix(first, "\ufeff")), ",")
	w := csv.NewWriter(&out)
	for _, line := range lines {
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = line[column]
			delete(line, column)
		}
		if len(line) != 0 {
			t.Fatalf("%s has no columns for %v", file, line)
		}
		_ = w.Write(cells) // to a builder
	}
	w.Flush()
	return []byte(out.String())
}

// bill is what a provider bills of a model on a day of its zone.
type bill struct {
	day   time.Time
	model string
	calls []billedCall
	// Errors of the invoice: more of a meter, of calls and of cost than there was.
	wrong      map[string]uint64
	wrongCalls int
	wrongCost  int64
}

func (b bill) sum(meter string) string {
	n := b.wrong[meter]
	for _, c := range b.calls {
		n += c.used[meter]
	}
	return strconv.FormatUint(n, 10)
}

func (b bill) less(meter string, parts ...string) string {
	n, _ := strconv.ParseUint(b.sum(meter), 10, 64)
	for _, part := range parts {
		of, _ := strconv.ParseUint(b.sum(part), 10, 64)
		n -= min(of, n)
	}
	return strconv.FormatUint(n, 10)
}

func (b bill) count() string { return strconv.Itoa(len(b.calls) + b.wrongCalls) }

// costs are those of a kind; any: of all kinds.
func (b bill) costs(kind string, digits int) string {
	sum := int64(0)
	if kind == "any" || kind == "output" {
		sum = b.wrongCost
	}
	for _, c := range b.calls {
		if kind == "any" {
			sum += c.total()
		} else {
			sum += c.cost()[kind]
		}
	}
	return tenDigits(sum, digits)
}

func tenDigits(n int64, digits int) string { return big.NewRat(n, 10_000_000_000).FloatString(digits) }

var kindsOfCost = []string{"input", "cached input", "output", "write 5m", "write 1h", "searches"}

// providerForms are the files that providers give out, by what they tell.
var providerForms = []struct {
	file, capability, zone string
	tells                  string // what an error can be in
	lines                  func(bill) []map[string]string
}{
	{"openai-usage", "openai", "UTC", "calls input output cached_input input_audio", func(b bill) []map[string]string {
		at := b.day.Unix()
		return []map[string]string{{"start_time": fmt.Sprint(at), "end_time": fmt.Sprint(at + 86400), "num_model_requests": b.count(), "model": b.model,
			"input_tokens": b.sum("input"), "output_tokens": b.sum("output"), "input_cached_tokens": b.sum("cached_input"),
			"input_uncached_tokens": b.less("input", "cached_input"), "input_audio_tokens": b.sum("input_audio"), "input_cached_audio_tokens": "0", "output_audio_tokens": b.sum("output_audio")}}
	}},
	{"openai-costs", "openai", "UTC", "cost", func(b bill) (lines []map[string]string) {
		for _, kind := range kindsOfCost[:3] {
			lines = append(lines, map[string]string{"start_time": fmt.Sprint(b.day.Unix()), "end_time": fmt.Sprint(b.day.Unix() + 86400),
				"amount_value": b.costs(kind, 30), "amount_currency": "usd", "line_item": b.model + ", " + kind})
		}
		return lines
	}},
	{"anthropic-usage", "anthropic", "UTC", "input output cached_input cache_write_1h web_searches", func(b bill) (lines []map[string]string) {
		byHour := map[int]bill{}
		for _, c := range b.calls {
			of := byHour[c.at.UTC().Hour()]
			of.calls = append(of.calls, c)
			byHour[c.at.UTC().Hour()] = of
		}
		wrong := byHour[7]
		wrong.wrong = b.wrong
		byHour[7] = wrong
		for hour, of := range byHour {
			lines = append(lines, map[string]string{"usage_date_utc": fmt.Sprintf("%s %02d:00", b.day.Format(time.DateOnly), hour), "model_version": b.model, "usage_type": "standard",
				"usage_input_tokens_no_cache": of.less("input", "cached_input", "cache_write_5m", "cache_write_1h"), "usage_input_tokens_cache_write_5m": of.sum("cache_write_5m"),
				"usage_input_tokens_cache_write_1h": of.sum("cache_write_1h"), "usage_input_tokens_cache_read": of.sum("cached_input"), "usage_output_tokens": of.sum("output"),
				"web_search_count": of.sum("web_searches")})
		}
		return lines
	}},
	{"anthropic-cost", "anthropic", "UTC", "cost", func(b bill) (lines []map[string]string) {
		titles := map[string]string{"claude-haiku-4-5-20251001": "Claude Haiku 4.5", "claude-opus-4-8": "Claude Opus 4.8"}
		title := titles[b.model]
		if title == "" {
			title = b.model
		}
		for _, kind := range kindsOfCost {
			lines = append(lines, map[string]string{"usage_date_utc": b.day.Format(time.DateOnly), "model": title, "token_type": kind, "cost_usd": b.costs(kind, 10)})
		}
		return lines
	}},
	{"deepseek-amount", "deepseek", "Asia/Shanghai", "calls input output cached_input", func(b bill) (lines []map[string]string) {
		for kind, n := range map[string]string{"input_cache_miss_tokens": b.less("input", "cached_input"), "input_cache_hit_tokens": b.sum("cached_input"), "output_tokens": b.sum("output"), "request_count": b.count()} {
			lines = append(lines, map[string]string{"start_time_iso": b.day.Format(time.RFC3339), "end_time_iso": b.day.AddDate(0, 0, 1).Format(time.RFC3339), "model": b.model, "type": kind, "amount": n})
		}
		return lines
	}},
	{"deepseek-cost", "deepseek", "Asia/Shanghai", "cost", func(b bill) []map[string]string {
		return []map[string]string{{"start_time_iso": b.day.Format(time.RFC3339), "end_time_iso": b.day.AddDate(0, 0, 1).Format(time.RFC3339), "model": b.model, "wallet_type": "Paid", "cost": b.costs("any", 6), "currency": "CNY"}}
	}},
	{"openrouter-activity", "router", "UTC", "input output cached_input reasoning cost", func(b bill) (lines []map[string]string) {
		for i, c := range b.calls {
			of := bill{calls: []billedCall{c}}
			if i == 0 {
				of.wrong, of.wrongCost = b.wrong, b.wrongCost
			}
			lines = append(lines, map[string]string{"generation_id": fmt.Sprintf("gen-%s-%d", b.day.Format(time.DateOnly), i), "created_at": c.at.UTC().Format("2006-01-02 15:04:05.000"),
				"cost_total": of.costs("any", 10), "tokens_prompt": of.sum("input"), "tokens_completion": of.sum("output"), "tokens_reasoning": of.sum("reasoning"), "tokens_cached": of.sum("cached_input"), "model_permaslug": b.model})
		}
		return lines
	}},
}

// TestAMonthOfEachProvidersInvoiceIsExplained: made of the calls that are in the ledger, nothing that differs is without a
// reason; and of five errors exactly these are found.
func TestAMonthOfEachProvidersInvoiceIsExplained(t *testing.T) {
	w := newWorld(t)
	now := time.Now().UTC()
	// From Beijing's first instant of the month on: what UTC has of the month before is another month's.
	beijings := time.FixedZone("", 8*3600)
	month := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, beijings)
	for capability, p := range providerModels {
		w.capability(capability)
		row := bookRow{capability: capability, from: 0, currency: "USD", input: p.input, output: p.output, cached: p.cached, write: -1}
		if capability == "deepseek" {
			row.currency = "CNY"
		}
		if p.write5m > 0 {
			row.more = map[string]int64{"cache_write_5m": p.write5m, "cache_write_1h": p.write1h, "web_searches": p.each}
		}
		w.put(beijing.DayOf(month), row)
	}
	application := w.application(w.owner("ada"), "all")
	all := aMonthOfCalls(month)
	w.record(application, all)
	answers := w.deps.Answers.(*report.Report)

	for _, f := range providerForms {
		zone, err := time.LoadLocation(f.zone)
		if err != nil {
			t.Fatal(err)
		}
		bills := map[string]*bill{}
		for _, c := range all {
			at := c.at.In(zone)
			if c.capability != f.capability {
				continue
			}
			key := at.Format(time.DateOnly) + " " + c.model
			if bills[key] == nil {
				bills[key] = &bill{day: time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, zone), model: c.model, wrong: map[string]uint64{}}
			}
			bills[key].calls = append(bills[key].calls, c)
		}
		compare := func() (unexplained []string, reasons map[string]bool) {
			t.Helper()
			var lines []map[string]string
			for _, key := range slices.Sorted(maps.Keys(bills)) {
				lines = append(lines, f.lines(*bills[key])...)
			}
			b := report.BillingMonthOf(month.Year(), month.Month(), zone)
			billed, ignored, err := invoice.Read(form(t, f.file, lines), b.First)
			if err != nil {
				t.Fatalf("%s: %v", f.file, err)
			}
			answer, err := answers.CompareInvoice(w.Ctx, b, billed, ignored)
			if err != nil {
				t.Fatal(err)
			}
			reasons = map[string]bool{}
			for _, item := range answer.Items {
				for _, r := range item.Reasons {
					reasons[r.Reason] = true
				}
				if item.Unexplained {
					unexplained = append(unexplained, item.Date+" "+item.Model)
				}
			}
			return unexplained, reasons
		}
		unexplained, reasons := compare()
		if len(unexplained) != 0 {
			t.Errorf("%s: without a reason: %q", f.file, unexplained)
		}
		want := []string{"partial", "absent", "deferred", "elsewhere", "unnamed", "unbilled"}
		if strings.Contains(f.tells, "cost") {
			want = append(want, "tier", "unpriced")
		}
		for _, reason := range want {
			if !reasons[reason] {
				t.Errorf("%s: no difference is %s: %v", f.file, reason, reasons)
			}
		}

		var planted []string
		plant := func(key string, change func(*bill)) {
			change(bills[key])
			planted = append(planted, key)
		}
		key := func(day, model int) string {
			return fmt.Sprintf("%s-%02d %s", month.Format("2006-01"), day, providerModels[f.capability].models[model])
		}
		tells := strings.Fields(f.tells)
		for i := range 3 { // an error in what it tells, one after the other
			plant(key([]int{7, 12, 23}[i], i%2), func(b *bill) {
				switch of := tells[i%len(tells)]; of {
				case "calls":
					b.wrongCalls++
				case "cost":
					b.wrongCost += 1_000_000 // a ten-thousandth
				default:
					b.wrong[of]++
				}
			})
		}
		missing, ghost := key(18, 1), month.Format("2006-01")+"-08 ghost-1"
		delete(bills, missing)
		at := *bills[key(8, 0)]
		at.model, at.calls = "ghost-1", at.calls[:1]
		bills[ghost] = &at
		planted = append(planted, missing, ghost)
		unexplained, _ = compare()
		titles := strings.NewReplacer("Claude Haiku 4.5", "claude-haiku-4-5-20251001", "Claude Opus 4.8", "claude-opus-4-8")
		for i := range unexplained {
			unexplained[i] = titles.Replace(unexplained[i])
		}
		slices.Sort(planted)
		slices.Sort(unexplained)
		if !slices.Equal(unexplained, planted) {
			t.Errorf("%s: %q are found, of\n%q", f.file, unexplained, planted)
		}
	}
}
