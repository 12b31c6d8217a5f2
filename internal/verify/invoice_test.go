package verify

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/pricing"
	"callgate/internal/report"
)

// TestWhatIsCountedForAnInvoiceIsWhatTheRowsGive: calls, states, tokens and cost of each day of several zones, recounted row by
// row, each priced by the Beijing day of its start.
func TestWhatIsCountedForAnInvoiceIsWhatTheRowsGive(t *testing.T) {
	w, _ := populated(t)
	answers := w.deps.Answers.(*report.Report)
	book, err := w.deps.Pricing.Book(w.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"UTC", "Asia/Shanghai", "America/Los_Angeles"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for back := range 2 {
			now := time.Now().In(zone)
			month := time.Date(now.Year(), now.Month()-time.Month(back), 1, 0, 0, 0, 0, zone)
			want := w.invoiced(book, zone, month)
			got, err := answers.CountedForInvoice(w.Ctx, month)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Items) != len(want) {
				t.Errorf("%s %s: %d lines, the rows give %d", name, got.Month, len(got.Items), len(want))
			}
			for _, line := range got.Items {
				of := invoiceLine{line.Date, line.Model, line.UpstreamModel}
				s := want[of]
				if s == nil {
					t.Errorf("%s: %+v is not in the rows", name, of)
					continue
				}
				if line.Calls != s.calls || line.ReportedCalls != s.reported || line.PartialCalls != s.partial || line.AbsentCalls != s.absent || line.OtherCalls != s.other ||
					line.Input != s.input || line.Output != s.output || line.Cached != s.cached {
					t.Errorf("%s %+v: %+v, the rows give %+v", name, of, line, s)
				}
				costs := 0
				for _, c := range line.Cost {
					if c.UnpricedCalls != s.unpriced {
						t.Errorf("%s %+v: %d unpriced, the rows give %d", name, of, c.UnpricedCalls, s.unpriced)
					}
					if c.Currency == nil {
						continue
					}
					costs++
					if *c.Amount != s.amounts[*c.Currency].String() {
						t.Errorf("%s %+v: %s %s, the rows give %s", name, of, *c.Amount, *c.Currency, s.amounts[*c.Currency])
					}
				}
				if costs != len(s.amounts) {
					t.Errorf("%s %+v: %d costs, the rows give %d", name, of, costs, len(s.amounts))
				}
			}
		}
	}
}

// invoiceLine names a line of what is counted for an invoice.
type invoiceLine struct{ date, model, upstream string }

// invoiceSums are its figures, recounted.
type invoiceSums struct {
	calls, reported, partial, absent, other, input, output, cached int64
	amounts                                                        map[string]decimal.Decimal
	unpriced                                                       int64
}

// invoiced recounts a month of a zone row by row.
func (w *world) invoiced(book *pricing.Book, zone *time.Location, month time.Time) map[invoiceLine]*invoiceSums {
	w.T.Helper()
	want := map[invoiceLine]*invoiceSums{}
	rows, err := w.clickhouse.QueryContext(w.Ctx, `SELECT toUnixTimestamp64Milli(start_time), toString(model), toString(upstream_model), toString(usage_state), input_tokens, output_tokens, cached_tokens
		FROM calls WHERE start_time >= fromUnixTimestamp64Milli($1) AND start_time < fromUnixTimestamp64Milli($2)`+w.existing(), month.UnixMilli(), month.AddDate(0, 1, 0).UnixMilli())
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var at int64
		var of invoiceLine
		var state string
		var input, output, cached *uint32
		if err := rows.Scan(&at, &of.model, &of.upstream, &state, &input, &output, &cached); err != nil {
			w.T.Fatal(err)
		}
		start := time.UnixMilli(at)
		of.date = start.In(zone).Format(time.DateOnly)
		answered := state == "reported" || state == "partial" || state == "absent"
		if !answered {
			of.upstream = ""
		}
		s := want[of]
		if s == nil {
			s = &invoiceSums{amounts: map[string]decimal.Decimal{}}
			want[of] = s
		}
		s.calls++
		switch state {
		case "reported":
			s.reported++
		case "partial":
			s.partial++
		case "absent":
			s.absent++
		default:
			s.other++
		}
		number := func(n *uint32) int64 {
			if n == nil {
				return 0
			}
			return int64(*n)
		}
		s.input, s.output, s.cached = s.input+number(input), s.output+number(output), s.cached+number(cached)
		if input == nil && output == nil {
			continue
		}
		price, found := book.Price(of.model, of.upstream, beijing.DayOf(start))
		if !found {
			s.unpriced++
			continue
		}
		rate := price.Input
		if price.Cached != nil {
			rate = *price.Cached
		}
		amount := price.Input.Mul(decimal.NewFromInt(number(input) - number(cached))).Add(rate.Mul(decimal.NewFromInt(number(cached)))).
			Add(price.Output.Mul(decimal.NewFromInt(number(output)))).Shift(-6)
		s.amounts[price.Currency] = s.amounts[price.Currency].Add(amount)
	}
	if err := rows.Err(); err != nil {
		w.T.Fatal(err)
	}
	return want
}

// existing is the condition that a row is of an application that exists.
func (w *world) existing() string {
	w.T.Helper()
	owners, err := w.deps.Applications.Owners(w.Ctx)
	if err != nil {
		w.T.Fatal(err)
	}
	var ids []string
	for _, owner := range owners {
		all, err := w.deps.Applications.All(w.Ctx, owner)
		if err != nil {
			w.T.Fatal(err)
		}
		for _, a := range all {
			ids = append(ids, "'"+a.ID.String()+"'")
		}
	}
	return " AND toString(application_id) IN (" + strings.Join(ids, ", ") + ")"
}
