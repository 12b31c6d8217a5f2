package report

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
	"callgate/internal/invoice"
	"callgate/internal/meter"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// BillingMonth is a month of days of a zone.
type BillingMonth struct {
	First  time.Time   // instant
	starts []time.Time // of its days
	until  time.Time
}

// BillingMonthOf is a month of a zone.
func BillingMonthOf(year int, month time.Month, zone *time.Location) (b BillingMonth) {
	last := time.Date(year, month+1, 0, 12, 0, 0, 0, zone).Day()
	for day := 1; day <= last; day++ {
		b.starts = append(b.starts, firstOf(year, month, day, zone))
	}
	b.First, b.until = b.starts[0], firstOf(year, month+1, 1, zone)
	return b
}

// firstOf is the first instant of a date, which is not midnight where clocks go forward then, and the earlier of two where they
// go back.
func firstOf(year int, month time.Month, day int, zone *time.Location) time.Time {
	at := time.Date(year, month, day, 0, 0, 0, 0, zone)
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	if at.Format(time.DateOnly) < date { // there is no midnight, and at is as long before it as clocks go forward
		_, at = at.ZoneBounds()
	}
	if earlier := at.Add(-time.Hour); earlier.Format(time.DateOnly) == date {
		return earlier
	}
	return at
}

// WholeHours tells whether each of its days begins with an hour of UTC.
func (b BillingMonth) WholeHours() bool {
	for _, start := range append(b.starts, b.until) {
		if start.Unix()%3600 != 0 {
			return false
		}
	}
	return true
}

// days are the Beijing days that the month touches.
func (b BillingMonth) days() beijing.Range {
	return beijing.Range{Start: beijing.DayOf(b.First), End: beijing.DayOf(b.until.Add(-time.Second))}
}

// line is what was counted of a capability and model that answered on a day of the zone.
type line struct {
	slot            int
	model, upstream string
}

type countedLine struct {
	line
	stats.SlotTokens
	all    int64            // calls, whatever became of them
	tier   int64            // calls of a tier of service that has no price of its own
	meters map[string]int64 // besides the five numbers
	costs  []pricing.Cost
}

// CountedForInvoice answers countedForInvoice: what was counted of the month that an instant lies in, in its zone, by day,
// capability and model that answered.
func (r *Report) CountedForInvoice(ctx context.Context, month time.Time) (answer openapi.InvoiceCounts, err error) {
	b := BillingMonthOf(month.Year(), month.Month(), month.Location())
	lines, _, err := r.countedLines(ctx, b, &answer.Coverage)
	answer.Month, answer.Zone = month.Format("2006-01"), month.Location().String()
	answer.Items = openapi.Each(lines, func(l countedLine) openapi.InvoiceCount {
		t := l.SlotTokens
		return openapi.InvoiceCount{
			Date: b.date(l.slot), Model: l.model, UpstreamModel: l.upstream, Calls: l.all,
			ReportedCalls: t.Reported, PartialCalls: t.Partial, AbsentCalls: t.Absent, UnreadableCalls: t.Unreadable, OtherCalls: l.others(),
			Input: t.Input, Output: t.Output, Cached: t.Cached, CacheWrite: t.CacheWrite, Reasoning: t.Reasoning, Meters: l.meters, Cost: openapi.Each(l.costs, costView),
		}
	})
	return answer, err
}

func (l countedLine) others() int64 {
	return l.all - l.Reported - l.Partial - l.Absent - l.Unreadable
}

// countedLines reads the month, in order of days, capabilities and models. Calls without an answer stand in the line of the
// empty model. whose are the rows that were read.
func (r *Report) countedLines(ctx context.Context, b BillingMonth, known *openapi.Coverage) (found []countedLine, whose stats.Everyone, err error) {
	who, err := r.everyoneIn(ctx, b.days(), nil, known)
	if err != nil {
		return nil, whose, err
	}
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return nil, whose, err
	}
	var tokens []stats.SlotTokens
	var calls map[stats.SlotModel]int64
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		tokens, err = r.Stats.SlotTokens(groupCtx, who.inRows, b.starts, b.until)
		return err
	})
	group.Go(func() (err error) {
		calls, err = r.Stats.SlotCalls(groupCtx, who.inRows, b.starts, b.until)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, whose, err
	}
	lines, sums := map[line]*countedLine{}, map[line]*pricing.Sum{}
	at := func(of line) *countedLine {
		if lines[of] == nil {
			lines[of], sums[of] = &countedLine{line: of, meters: map[string]int64{}}, book.Sum()
		}
		return lines[of]
	}
	for _, t := range tokens {
		of := line{t.Slot, t.Model, t.UpstreamModel}
		l := at(of)
		l.add(t)
		if t.Calls != 0 || t.Meters != nil {
			u := pricing.Usage{Capability: t.Model, UpstreamModel: t.UpstreamModel, Day: t.Day, Calls: t.Calls, Meters: pricing.Meters{
				meter.Input: t.Input, meter.CachedInput: t.Cached, meter.CacheWrite: t.CacheWrite,
				meter.Output: t.Output, meter.Reasoning: t.Reasoning,
			}}
			metered(&u, t.Metered)
			sums[of].Add(book.Charge(u))
			if price, found := book.PriceOf(u); found && price.Tier != u.Tier {
				l.tier += u.Calls + u.Beside
			}
		}
		calls[stats.SlotModel{Slot: t.Slot, Model: t.Model}] -= t.Reported + t.Partial + t.Absent + t.Unreadable
	}
	for of, left := range calls {
		if left > 0 { // rollups commit one after the other
			at(line{of.Slot, of.Model, ""}).all += left
		}
	}
	found = make([]countedLine, 0, len(lines))
	for of, l := range lines {
		maps.DeleteFunc(l.meters, func(_ string, n int64) bool { return n == 0 })
		// A model that was used beside another has calls of its own nowhere.
		if l.costs = sums[of].Costs(); l.all != 0 || l.Input != 0 || l.Output != 0 || len(l.costs) > 0 {
			found = append(found, *l)
		}
	}
	slices.SortFunc(found, func(a, b countedLine) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), strings.Compare(a.model, b.model), strings.Compare(a.upstream, b.upstream))
	})
	return found, who.inRows, nil
}

// add takes in the part of a line that lies on one Beijing day.
func (l *countedLine) add(t stats.SlotTokens) {
	sum := &l.SlotTokens
	l.all += t.Reported + t.Partial + t.Absent + t.Unreadable
	sum.Reported, sum.Partial, sum.Absent, sum.Unreadable = sum.Reported+t.Reported, sum.Partial+t.Partial, sum.Absent+t.Absent, sum.Unreadable+t.Unreadable
	sum.Calls, sum.Input, sum.Output = sum.Calls+t.Calls, sum.Input+t.Input, sum.Output+t.Output
	sum.Cached, sum.CacheWrite, sum.Reasoning = sum.Cached+t.Cached, sum.CacheWrite+t.CacheWrite, sum.Reasoning+t.Reasoning
	for name, n := range t.Meters {
		if !slices.Contains(fiveMeters[:], name) && !ofCost(name) {
			l.meters[name] += n
		}
	}
}

// CompareInvoice answers compareInvoice: what was counted of a month beside the lines that were billed. ignored is how many other
// lines the invoice has.
func (r *Report) CompareInvoice(ctx context.Context, b BillingMonth, billed []invoice.Line, ignored int) (answer openapi.InvoiceComparison, err error) {
	lines, who, err := r.countedLines(ctx, b, &answer.Coverage)
	if err != nil {
		return answer, err
	}
	uncounted, err := r.Stats.SlotUncounted(ctx, who, b.starts, b.until)
	if err != nil {
		return answer, err
	}
	answer.Month, answer.Zone = b.First.Format("2006-01"), b.First.Location().String()
	answer.Lines, answer.IgnoredLines = int64(len(billed)), int64(ignored)
	counted := openapi.Each(lines, func(l countedLine) invoice.Counted { return l.counted(b) })
	for _, u := range uncounted {
		counted = append(counted, invoice.Counted{Date: b.date(u.Slot), Capability: u.Model, UpstreamModel: u.UpstreamModel, Billable: u.Unanswered,
			Why: map[invoice.Reason]int64{invoice.Deferred: u.Deferred, invoice.Estimated: u.Estimated}})
	}
	answer.Items = openapi.Each(invoice.Compare(counted, billed), invoiceItemView)
	return answer, nil
}

func (b BillingMonth) date(slot int) string { return b.starts[slot].Format(time.DateOnly) }

func (l countedLine) counted(b BillingMonth) invoice.Counted {
	counted := invoice.Counted{
		Date: b.date(l.slot), Capability: l.model, UpstreamModel: l.upstream, Calls: l.all, Billable: l.all - l.others(), Costs: map[string]decimal.Decimal{},
		Meters: map[meter.Meter]int64{
			meter.Input: l.Input, meter.Output: l.Output, meter.CachedInput: l.Cached, meter.CacheWrite: l.CacheWrite, meter.Reasoning: l.Reasoning,
		},
		Why: map[invoice.Reason]int64{invoice.Partial: l.Partial, invoice.Absent: l.Absent + l.Unreadable, invoice.Tier: l.tier, invoice.Unanswered: l.others()},
	}
	for name, n := range l.meters {
		if of, known := meter.Named(name); known {
			counted.Meters[of] = n
		}
	}
	for _, cost := range l.costs {
		counted.Why[invoice.Unpriced] = cost.UnpricedCalls
		if cost.Currency != "" {
			counted.Costs[cost.Currency] = cost.Amount
		}
	}
	return counted
}

func invoiceItemView(i invoice.Item) openapi.InvoiceItem {
	causes, unexplained := i.Causes()
	difference := i.Difference()
	view := openapi.InvoiceItem{
		Date: i.Date, Model: i.Model, CapabilityIDs: i.Capabilities, Counted: sumsView(i.Ours), Billed: sumsView(i.Theirs), Difference: sumsView(&difference),
		PartialCalls: i.Why[invoice.Partial], AbsentCalls: i.Why[invoice.Absent], UnpricedCalls: i.Why[invoice.Unpriced], Unexplained: unexplained,
		Reasons: openapi.Each(causes, func(c invoice.Cause) openapi.InvoiceReason {
			return openapi.InvoiceReason{Reason: string(c.Reason), Calls: c.Calls}
		}),
	}
	if view.CapabilityIDs == nil {
		view.CapabilityIDs = []string{}
	}
	return view
}

func sumsView(s *invoice.Sums) openapi.InvoiceSums {
	view := openapi.InvoiceSums{Meters: map[string]int64{}, Cost: []openapi.InvoiceCost{}}
	if s == nil {
		return view
	}
	for m, n := range s.Meters {
		view.Meters[m.String()] = n
	}
	known := func(m meter.Meter) *int64 {
		if n, told := s.Meters[m]; told {
			return &n
		}
		return nil
	}
	view.Calls, view.Input, view.Output, view.Cached = s.Calls, known(meter.Input), known(meter.Output), known(meter.CachedInput)
	view.Cost = openapi.Each(slices.Sorted(maps.Keys(s.Costs)), func(currency string) openapi.InvoiceCost {
		return openapi.InvoiceCost{Currency: currency, Amount: s.Costs[currency].String()}
	})
	return view
}
