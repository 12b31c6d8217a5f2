package alerts

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

const (
	// staleAfter is how far the statistics may be behind for anything to be said of calls.
	staleAfter = 30 * time.Second
	// measureTimeout bounds an evaluation's questions: what is not answered by then is not known.
	measureTimeout = 8 * time.Second
)

// question is what several rules are measured by in one go.
type question struct {
	kind    Kind // windows: FailureRate for both kinds; spent: Tokens for both
	of      TargetType
	minutes int64
	period  string
}

func questionOf(r *Rule) question {
	switch r.Kind {
	case FailureRate, P95:
		return question{kind: FailureRate, of: r.Target.Type, minutes: r.WindowMinutes}
	case Tokens, Cost:
		return question{kind: Tokens, period: r.Period}
	case UpstreamLeftOut:
		return question{kind: UpstreamLeftOut, of: r.Target.Type}
	default:
		return question{kind: r.Kind}
	}
}

// measuring is one evaluation's questions.
type measuring struct {
	source   Source
	now      time.Time
	standing Standing
	unknown  string // of the statistics

	mu    sync.Mutex
	found map[uuid.UUID]Measure
}

// measure finds out how all rules stand. Those it has no answer for are not known.
func measure(ctx context.Context, source Source, rules []*Rule, now time.Time) map[uuid.UUID]Measure {
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	m := &measuring{source: source, now: now, found: make(map[uuid.UUID]Measure, len(rules))}
	var err error
	m.standing, err = source.Standing(ctx)
	switch {
	case err != nil:
		m.unknown = NoStore
	case now.Sub(m.standing.Through) > staleAfter:
		m.unknown = Behind
	}
	asked := map[question][]*Rule{}
	for _, r := range rules {
		asked[questionOf(r)] = append(asked[questionOf(r)], r)
	}
	var group errgroup.Group
	for q, rules := range asked {
		group.Go(func() error {
			if err := m.answer(ctx, q, rules); err != nil {
				m.put(rules, func(*Rule) Measure { return Measure{Unknown: NoStore} })
			}
			return nil
		})
	}
	_ = group.Wait()
	return m.found
}

func (m *measuring) put(rules []*Rule, of func(*Rule) Measure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range rules {
		m.found[r.ID] = of(r)
	}
}

func (m *measuring) answer(ctx context.Context, q question, rules []*Rule) error {
	switch q.kind {
	case StatisticsBehind, SpoolStuck:
		if m.unknown == NoStore {
			return errors.New("the ledger is not known")
		}
		m.put(rules, m.ofPlatform)
		return nil
	case KeyExpiry:
		return m.keys(ctx, rules)
	case LimitUse:
		return m.limits(ctx, rules)
	case UpstreamLeftOut:
		return m.leftOut(ctx, q, rules)
	}
	if m.unknown != "" {
		m.put(rules, func(*Rule) Measure { return Measure{Unknown: m.unknown} })
		return nil
	}
	switch q.kind {
	case FailureRate:
		return m.windows(ctx, q, rules)
	case NoCalls:
		return m.silence(ctx, rules)
	case BudgetUse:
		return m.budgets(ctx, rules)
	default:
		return m.spent(ctx, q, rules)
	}
}

func (m *measuring) ofPlatform(r *Rule) Measure {
	if r.Kind == StatisticsBehind {
		return Measure{Value: max(0, m.now.Sub(m.standing.Through).Seconds()), Figures: Figures{DataThrough: instant(m.standing.Through)}}
	}
	found := Measure{}
	if m.standing.SpoolID != uuid.Nil {
		id := m.standing.SpoolID.String()
		found.Value, found.Figures.SpoolID, found.Figures.Host = m.standing.SilentFor.Minutes(), &id, &m.standing.Host
	}
	return found
}

// windows asks for calls up to dataThrough: later ones may be missing.
func (m *measuring) windows(ctx context.Context, q question, rules []*Rule) error {
	to := m.standing.Through
	from := to.Add(-time.Duration(q.minutes) * time.Minute)
	found, err := m.source.Windows(ctx, q.of, targetsOf(rules), from, to)
	if err != nil {
		return err
	}
	m.put(rules, func(r *Rule) Measure {
		found := r.ofWindow(found[*r.Target.ID])
		found.Figures.From, found.Figures.To = instant(from), instant(to)
		return found
	})
	return nil
}

// ofWindow is what is measured by what calls did in a window.
func (r *Rule) ofWindow(w Window) Measure {
	figures := Figures{Calls: &w.Calls, Failures: &w.Failures}
	if w.Calls == 0 {
		return Measure{Unknown: NoData, Figures: figures}
	}
	found := Measure{Few: w.Calls < r.MinCalls, Figures: figures}
	if r.Kind == P95 {
		found.Value, found.Figures.P95Ms = float64(w.P95Ms), &w.P95Ms
	} else {
		found.Value = 100 * float64(w.Failures) / float64(w.Calls)
	}
	return found
}

// silence measures from the last call, or from when the rule was made.
func (m *measuring) silence(ctx context.Context, rules []*Rule) error {
	last, err := m.source.LastCalls(ctx, applicationsOf(rules))
	if err != nil {
		return err
	}
	m.put(rules, func(r *Rule) Measure {
		since, figures := r.CreatedAt, Figures{DataThrough: instant(m.standing.Through)}
		if at, ok := last[applicationOf(r)]; ok {
			figures.LastCallAt = instant(at)
			if at.After(since) {
				since = at
			}
		}
		return Measure{Value: max(0, m.standing.Through.Sub(since).Minutes()), Figures: figures}
	})
	return nil
}

func (m *measuring) spent(ctx context.Context, q question, rules []*Rule) error {
	today := beijing.DayOf(m.standing.Through)
	days := beijing.Range{Start: today, End: today}
	if q.period == month {
		days.Start = beijing.MonthOf(today).Start
	}
	found, err := m.source.Spent(ctx, applicationsOf(rules), days)
	if err != nil {
		return err
	}
	m.put(rules, func(r *Rule) Measure {
		s := found[applicationOf(r)]
		figures := Figures{From: instant(days.Start.Start()), To: instant(m.standing.Through), Tokens: &s.Tokens}
		if r.Kind == Tokens {
			return Measure{Value: float64(s.Tokens), Figures: figures}
		}
		money := s.Costs[r.Currency]
		figures.UnpricedCalls = &s.Unpriced
		if money.Text != "" {
			figures.Cost = &money.Text
		}
		return Measure{Value: money.Amount, Figures: figures}
	})
	return nil
}

func (m *measuring) limits(ctx context.Context, rules []*Rule) error {
	found, err := m.source.Uses(ctx, applicationsOf(rules))
	if err != nil {
		return err
	}
	m.put(rules, func(r *Rule) Measure {
		use, ok := found[applicationOf(r)][r.Limit]
		switch {
		case !ok:
			return Measure{Unknown: NoStore}
		case use.Limit == 0: // taken away: nothing is used of it
			return Measure{}
		case use.Used == nil:
			return Measure{Unknown: NoData, Figures: Figures{Limit: &use.Limit}}
		}
		return Measure{Value: 100 * float64(*use.Used) / float64(use.Limit), Figures: Figures{Used: use.Used, Limit: &use.Limit}}
	})
	return nil
}

// budgets are of the periods that it was at dataThrough, as costs are.
func (m *measuring) budgets(ctx context.Context, rules []*Rule) error {
	found, err := m.source.Budgets(ctx, applicationsOf(rules), m.standing.Through)
	if err != nil {
		return err
	}
	m.put(rules, func(r *Rule) Measure {
		b, ok := found[applicationOf(r)][r.Period]
		if !ok { // taken away: nothing is spent of it
			return Measure{}
		}
		figures := Figures{
			Amount: &b.Amount, Currency: &b.Currency, Cost: &b.Spent, UnpricedCalls: &b.Unknown,
			From: instant(b.From.Start()), To: instant(m.standing.Through),
		}
		if b.UsedUpOn != nil {
			text := b.UsedUpOn.String()
			figures.UsedUpOn = &text
		}
		return Measure{Value: b.Percent, Figures: figures}
	})
	return nil
}

func (m *measuring) keys(ctx context.Context, rules []*Rule) error {
	found, err := m.source.ExpiringKeys(ctx, applicationsOf(rules))
	if err != nil {
		return err
	}
	m.put(rules, func(r *Rule) Measure {
		key, ok := found[applicationOf(r)]
		if !ok {
			return Measure{Value: math.Inf(1)}
		}
		id := key.ID.String()
		return Measure{Value: max(0, key.ExpiresAt.Sub(m.now).Hours()/24), Figures: Figures{KeyID: &id, KeyName: &key.Name, ExpiresAt: instant(key.ExpiresAt)}}
	})
	return nil
}

// leftOut names the upstream to administrators only: owners know capabilities.
func (m *measuring) leftOut(ctx context.Context, q question, rules []*Rule) error {
	found, err := m.source.LeftOut(ctx, q.of, targetsOf(rules))
	if err != nil {
		return err
	}
	m.put(rules, func(r *Rule) Measure {
		out, ok := found[*r.Target.ID]
		switch {
		case !ok:
			return Measure{Unknown: NoData}
		case out.Capability == "":
			return Measure{}
		}
		figures := Figures{CapabilityName: &out.Capability}
		if r.Owner == nil {
			figures.UpstreamName = &out.Upstream
		}
		return Measure{Value: out.For.Minutes(), Figures: figures}
	})
	return nil
}

func instant(at time.Time) *string {
	text := beijing.Format(at)
	return &text
}

// targetsOf are the ids of what rules watch, each once.
func targetsOf(rules []*Rule) []string {
	ids := make([]string, len(rules))
	for i, r := range rules {
		ids[i] = *r.Target.ID
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func applicationsOf(rules []*Rule) []uuid.UUID {
	var ids []uuid.UUID
	for _, id := range targetsOf(rules) {
		ids = append(ids, uuid.MustParse(id))
	}
	return ids
}

func applicationOf(r *Rule) uuid.UUID { return uuid.MustParse(*r.Target.ID) }
