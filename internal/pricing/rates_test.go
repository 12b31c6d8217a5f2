package pricing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/meter"
)

// totaled tells the totals of a sum in short.
func totaled(s *Sum) string {
	var all []string
	for _, t := range s.Totals() {
		if len(t.Missing) > 0 {
			all = append(all, t.Currency+" without "+strings.Join(t.Missing, " "))
		} else {
			all = append(all, t.Currency+" "+t.Amount.String())
		}
	}
	return strings.Join(all, ", ")
}

func exchangeOf(currency, to string, from beijing.Day, rate string) Exchange {
	return Exchange{Currency: currency, To: to, From: from, Rate: decimal.RequireFromString(rate)}
}

func TestATotalIsOfEachDaysOwnRateAndOfNothingThatIsNotKnown(t *testing.T) {
	day := newYear
	price := func(capability, currency, input string) Price {
		return Price{CapabilityID: capability, From: day, Currency: currency, Rates: Rates{Input: decimal.RequireFromString(input)}}
	}
	prices := []Price{price("usd", "USD", "0.000000000001"), price("cny", "CNY", "3"), price("eur", "EUR", "5")}
	book := NewBook(prices, exchangeOf("USD", "CNY", day+2, "7.25"), exchangeOf("USD", "CNY", day, "7.1"), exchangeOf("EUR", "CNY", day+1, "0.000000000001"), exchangeOf("CNY", "USD", day, "0.14"))
	used := func(capability string, day beijing.Day, tokens, calls int64) Usage {
		return Usage{Capability: capability, Day: day, Calls: calls, Meters: Meters{meter.Input: tokens}}
	}
	for name, c := range map[string]struct {
		rows []Usage
		want string
	}{
		"nothing":              {nil, ""},
		"without a price":      {[]Usage{used("none", day, 5, 1)}, ""},
		"its own currency":     {[]Usage{used("cny", day, 2_000_000, 1)}, "CNY 6, USD 0.84"},
		"each day at its rate": {[]Usage{used("usd", day, 1, 1), used("usd", day+1, 1, 1), used("usd", day+2, 1, 1), used("usd", day+9, 1, 1)}, "CNY 0.0000000000000000287, USD 0.000000000000000004"},
		"two currencies":       {[]Usage{used("usd", day, 10_000_000, 1), used("cny", day, 1_000_000, 1)}, "CNY 3.000000000071, USD 0.42000000001"},
		"not the other way":    {[]Usage{used("eur", day+1, 1_000_000, 1)}, "CNY 0.000000000005, USD without EUR"},
		"before its day":       {[]Usage{used("eur", day, 1_000_000, 1), used("eur", day+1, 1_000_000, 1)}, "CNY without EUR, USD without EUR"},
		"a call of nothing":    {[]Usage{used("eur", day, 0, 1), used("cny", day, 1_000_000, 1)}, "CNY without EUR, USD without EUR"},
		"what a repair took back": {[]Usage{used("eur", day, 1_000_000, 1), used("eur", day, -1_000_000, -1), used("eur", day+1, 1_000_000, 1)},
			"CNY 0.000000000005, USD without EUR"},
	} {
		sum, halves := book.Sum(), [2]*Sum{book.Sum(), book.Sum()}
		for i, row := range c.rows {
			sum.Add(book.Charge(row))
			halves[i%2].Add(book.Charge(row))
		}
		if got := totaled(sum); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		halves[0].AddSum(halves[1])
		if got := totaled(halves[0]); got != c.want {
			t.Errorf("%s in two halves: %s, want %s", name, got, c.want)
		}
	}
	if sum := NewBook(prices).Sum(); sum.Totals() != nil {
		t.Error("there are totals without rates")
	}
	var spans []string
	for _, r := range book.Spans(beijing.Range{Start: day, End: day + 3}) {
		spans = append(spans, fmt.Sprint(int(r.Start-day), "-", int(r.End-day)))
	}
	if got := strings.Join(spans, " "); got != "0-0 1-1 2-3" {
		t.Errorf("spans %s, within which no rate may change", got)
	}
}

func TestTheBookFollowsItsRates(t *testing.T) {
	w := newWorld(t)
	w.put(chat())
	at := func() string {
		t.Helper()
		book, err := w.Book(w.Ctx)
		if err != nil {
			t.Fatal(err)
		}
		sum := book.Sum()
		sum.Add(book.Charge(Usage{Capability: "chat", Day: newYear, Calls: 1, Meters: Meters{meter.Input: 1_000_000}}))
		return totaled(sum)
	}
	if got := at(); got != "" {
		t.Errorf("before: %s", got)
	}
	made, err := w.PutExchange(w.Ctx, admin, ExchangeDraft{Currency: "CNY", ToCurrency: "USD", From: newYear.String(), Rate: "0.14"})
	if err != nil {
		t.Fatal(err)
	}
	if got := at(); got != "USD 0.28" {
		t.Errorf("entered: %s", got)
	}
	if _, err := w.PutExchange(w.Ctx, admin, ExchangeDraft{Currency: "CNY", ToCurrency: "USD", From: newYear.String(), Rate: "999999999.999999999999"}); err != nil {
		t.Fatal(err)
	}
	if got := at(); got != "USD 1999999999.999999999998" {
		t.Errorf("corrected: %s", got)
	}
	if err := w.DeleteExchange(w.Ctx, admin, made.ID); err != nil {
		t.Fatal(err)
	}
	if got := at(); got != "" {
		t.Errorf("deleted: %s", got)
	}
}
