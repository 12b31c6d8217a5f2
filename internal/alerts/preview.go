package alerts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/fault"
)

const (
	// PreviewDays is how far back it is looked when a rule would have fired.
	PreviewDays = 30
	// PreviewFirings is how many of them are told.
	PreviewFirings = 20

	// SlotLength is how long apart rules are evaluated, in the past as in the present.
	SlotLength = 10 * time.Second
)

// Preview is when a rule would have fired, had there been one.
type Preview struct {
	From, To time.Time
	Count    *int64  // nil: it cannot be said of the kind
	Firings  []Fired // the last of them, the newest first
}

// Fired is a time in which a rule would have fired. Of tokens and costs From begins the day on which the threshold was reached.
type Fired struct {
	From  time.Time
	To    *time.Time // nil: it still fires
	Worst float64    // value while it fired
}

// Preview tells when the rule of a draft, whose name and channels do not matter, would have fired in the last days. An application
// that is not the owner's is fault.Absent.
func (s *Store) Preview(ctx context.Context, who Who, d Draft, past Past) (p Preview, err error) {
	wrong := fault.Fields{}
	d.Name = string(d.Kind)
	r := d.rule(who, wrong)
	if err := wrong.Err(); err != nil {
		return p, err
	}
	if r.Target.Type == Application {
		if r.CreatedAt, err = s.created(ctx, who, *r.Target.ID); err != nil {
			return p, err
		}
	}
	since, to, err := past.Known(ctx)
	if err != nil {
		return p, err
	}
	since, p.To = later(since, r.CreatedAt), to.Truncate(SlotLength)
	p.From = later(p.To.Add(-PreviewDays*24*time.Hour), since.Truncate(SlotLength))
	if r.Target.Type != Application {
		return p, nil
	}
	replayed := &replay{rule: &r, state: State{Value: OK}}
	switch r.Kind {
	case FailureRate, P95, NoCalls:
		err = replayed.calls(ctx, past, p.From, p.To)
	case Tokens, Cost:
		p.From = later((beijing.DayOf(p.To) - PreviewDays + 1).Start(), beijing.DayOf(since).Start())
		err = replayed.days(ctx, past, p.From, p.To)
	default:
		return p, nil
	}
	if err != nil {
		return p, err
	}
	n := len(replayed.firings)
	count := int64(n)
	p.Count = &count
	for i := n - 1; i >= max(0, n-PreviewFirings); i-- {
		p.Firings = append(p.Firings, replayed.firings[i])
	}
	return p, nil
}

// created is when an application of an owner was made.
func (s *Store) created(ctx context.Context, who Who, application string) (at time.Time, err error) {
	id, _ := uuid.Parse(application) // the nil id is nobody's
	err = s.pool.QueryRow(ctx, `SELECT created_at FROM applications WHERE id = $1 AND owner_id = $2`, id, who.Owner).Scan(&at)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return at, fault.Absent()
	case err != nil:
		return at, fmt.Errorf("find application: %w", err)
	}
	return at, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// replay keeps when a rule fires, from one evaluation to the next.
type replay struct {
	rule    *Rule
	state   State
	firings []Fired
}

// evaluate takes in a measure as the evaluator does.
func (p *replay) evaluate(m Measure, at time.Time) {
	before := p.state.Value
	p.state = p.state.next(p.rule, m, at)
	switch {
	case p.state.Value != before && before == OK:
		p.firings = append(p.firings, Fired{From: at, Worst: m.Value})
	case p.state.Value != before:
		p.firings[len(p.firings)-1].To = &at
	case before == Firing && m.Unknown == "":
		last := &p.firings[len(p.firings)-1]
		last.Worst = math.Max(last.Worst, m.Value)
	}
}

// days evaluates what is spent at the end of each day, for a sum does not shrink within one, and when a period begins. Periods are
// looked at from their beginning, but what fired before from is not told.
func (p *replay) days(ctx context.Context, past Past, from, to time.Time) error {
	periods := beijing.Range{Start: beijing.DayOf(from), End: beijing.DayOf(to)}
	if p.rule.Period == month {
		periods.Start = beijing.MonthOf(periods.Start).Start
	}
	spent, err := past.DaysSpent(ctx, applicationOf(p.rule), periods)
	if err != nil {
		return err
	}
	agree := func(value float64, at time.Time) {
		for range inARow {
			p.evaluate(Measure{Value: value}, at)
		}
	}
	var tokens int64
	var cost decimal.Decimal
	for day := range periods.Each() {
		if p.rule.Period != month || day == beijing.MonthOf(day).Start {
			tokens, cost = 0, decimal.Zero
			agree(0, day.Start())
		}
		if len(spent) > 0 && spent[0].Day == day {
			tokens, cost = tokens+spent[0].Tokens, cost.Add(spent[0].Costs[p.rule.Currency])
			spent = spent[1:]
		}
		if p.rule.Kind == Tokens {
			agree(float64(tokens), day.Start())
		} else {
			agree(cost.InexactFloat64(), day.Start())
		}
	}
	for len(p.firings) > 0 && p.firings[0].From.Before(from) {
		p.firings = p.firings[1:]
	}
	return nil
}

// calls evaluates every slot, from the first to the last.
func (p *replay) calls(ctx context.Context, past Past, from, to time.Time) error {
	w := &sliding{replay: p, at: from, last: from}
	if p.rule.Kind != NoCalls {
		w.width = time.Duration(p.rule.WindowMinutes) * time.Minute
	}
	err := past.Slots(ctx, applicationOf(p.rule), from.Add(-w.width), to, p.rule.Kind == P95, func(s Slot) {
		w.until(s.At)
		w.add(s)
	})
	if err == nil {
		w.until(to.Add(SlotLength))
	}
	return err
}

// sliding is a window of calls that moves on in time.
type sliding struct {
	*replay
	width time.Duration
	at    time.Time // that is evaluated next
	slots []Slot    // of the window
	sum   Window
	took  durations
	last  time.Time // when a call began last, or the rule
	known bool      // measure is that of the window
	found Measure
}

// until evaluates all that is before a time.
func (w *sliding) until(end time.Time) {
	for ; w.at.Before(end); w.at = w.at.Add(SlotLength) {
		for len(w.slots) > 0 && !w.slots[0].At.After(w.at.Add(-w.width)) {
			w.count(w.slots[0], -1)
			w.slots = w.slots[1:]
		}
		w.evaluate(w.measure(), w.at)
	}
}

func (w *sliding) add(s Slot) {
	w.last = later(w.last, s.LastStart)
	if w.width > 0 {
		w.count(s, 1)
		w.slots = append(w.slots, s)
	}
}

func (w *sliding) count(s Slot, by int64) {
	w.known = false
	w.sum.Calls += by * s.Calls
	w.sum.Failures += by * s.Failures
	for _, ms := range s.Durations {
		w.took.count(ms, int32(by))
	}
}

func (w *sliding) measure() Measure {
	if w.width == 0 {
		return Measure{Value: max(0, w.at.Sub(w.last).Minutes())}
	}
	if !w.known {
		w.sum.P95Ms = w.took.p95()
		w.found, w.known = w.rule.ofWindow(w.sum), true
	}
	return w.found
}

// pageBits is how many durations, as a power of two, durations counts together too.
const pageBits = 10

// durations counts calls by how long they took, as they come and go.
type durations struct {
	n     int
	pages []*page // the last one is not empty
}

type page struct {
	n  int32
	of [1 << pageBits]int32 // by ms
}

func (d *durations) count(ms uint32, by int32) {
	at := int(ms >> pageBits)
	for len(d.pages) <= at {
		d.pages = append(d.pages, nil)
	}
	if d.pages[at] == nil {
		d.pages[at] = &page{}
	}
	d.n += int(by)
	d.pages[at].n += by
	d.pages[at].of[ms&(1<<pageBits-1)] += by
	for len(d.pages) > 0 && (d.pages[len(d.pages)-1] == nil || d.pages[len(d.pages)-1].n == 0) {
		d.pages = d.pages[:len(d.pages)-1]
	}
}

// p95 is that of the nearest rank, as the statistics have it; 0 without calls.
func (d *durations) p95() int64 {
	longer := int32(d.n - 1 - int(0.9499999*float64(d.n))) // calls after it in ascending order
	for at := len(d.pages) - 1; at >= 0; at-- {
		p := d.pages[at]
		if p == nil || longer >= p.n {
			if p != nil {
				longer -= p.n
			}
			continue
		}
		for ms := len(p.of) - 1; ms >= 0; ms-- {
			if longer -= p.of[ms]; longer < 0 {
				return int64(at<<pageBits | ms)
			}
		}
	}
	return 0
}
