package alerts

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"callgate/internal/fault"
)

// The periods of tokens, cost and budgets.
const (
	day   = "day"
	week  = "week" // of budgets only
	month = "month"
)

// Draft is a rule as it is entered; nil fields get what is usual.
type Draft struct {
	Name             string
	Kind             Kind
	TargetType       TargetType
	TargetID         *string
	Threshold        *float64 // nil: of DayClosed
	ResolveThreshold *float64
	WindowMinutes    *int64
	MinCalls         *int64
	Period           *string
	Currency         *string
	Limit            *string
	Enabled          *bool
	Channels         []ChannelDraft
}

// Edit is what of a rule is to be otherwise; nil fields stay.
type Edit struct {
	Name             *string
	Threshold        *float64
	ResolveThreshold *float64
	WindowMinutes    *int64
	MinCalls         *int64
	Enabled          *bool
	SilencedUntil    *string // RFC 3339; empty: no longer
	Channels         *[]ChannelDraft
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// rule is the rule of a draft, without what the database knows.
func (d *Draft) rule(who Who, wrong fault.Fields) Rule {
	r := Rule{
		ID: uuid.New(), Owner: who.owner(), Name: strings.TrimSpace(d.Name), Kind: d.Kind, Target: Target{Type: d.TargetType, ID: d.TargetID},
		Enabled: true, CreatedBy: who.Email,
	}
	wrong.Name("name", r.Name, 1, 64)
	d.target(who, &r, wrong)
	if d.Enabled != nil {
		r.Enabled = *d.Enabled
	}
	if r.Kind.windowed() {
		r.WindowMinutes, r.MinCalls = defaultWindow, defaultCalls
	}
	d.setPeriod(&r, wrong)
	set(&r.Limit, d.Limit, r.Kind == LimitUse, "limit", wrong)
	if r.Kind == LimitUse && !slices.Contains(limitNames, r.Limit) {
		wrong.Add("limit", "must be requestsPerMinute, tokensPerMinute, concurrency, callsPerDay or tokensPerDay")
	}
	(&Edit{Threshold: d.Threshold, WindowMinutes: d.WindowMinutes, MinCalls: d.MinCalls, ResolveThreshold: d.ResolveThreshold}).apply(&r, time.Time{}, wrong)
	return r
}

func (d *Draft) target(who Who, r *Rule, wrong fault.Fields) {
	allowed, known := targets[d.Kind]
	able := slices.DeleteFunc(slices.Clone(allowed), func(t TargetType) bool { return (who.Owner != uuid.Nil) != slices.Contains(ofOwners, t) })
	switch {
	case !known:
		wrong.Add("kind", "must be failureRate, noCalls, p95, tokens, cost, limit, budget, keyExpiry, statisticsBehind, spoolStuck, upstreamLeftOut or dayClosed")
		return
	case who.Owner != uuid.Nil && len(able) == 0:
		wrong.Add("kind", "only administrators can watch this")
		return
	case len(able) == 0:
		wrong.Add("kind", "this is watched of an application, by its owner")
		return
	case !slices.Contains(able, d.TargetType):
		wrong.Add("targetType", "does not go with this kind")
		return
	}
	if r.Target.Type == Platform || r.Target.Type == Account {
		r.Target.ID = nil
	} else if r.Target.ID == nil || *r.Target.ID == "" {
		wrong.Add("targetId", "is required")
	}
}

func (d *Draft) setPeriod(r *Rule, wrong fault.Fields) {
	counted := r.Kind == Tokens || r.Kind == Cost || r.Kind == BudgetUse
	if counted {
		r.Period = day
	}
	set(&r.Period, d.Period, counted, "period", wrong)
	switch {
	case r.Kind == BudgetUse && r.Period != day && r.Period != week && r.Period != month:
		wrong.Add("period", "must be day, week or month")
	case counted && r.Kind != BudgetUse && r.Period != day && r.Period != month:
		wrong.Add("period", "must be day or month")
	}
	set(&r.Currency, d.Currency, r.Kind == Cost, "currency", wrong)
	if r.Kind == Cost && !currencyCode.MatchString(r.Currency) {
		wrong.Add("currency", "must be a currency code such as CNY or USD")
	}
}

// set takes a field that is given, if it belongs to the kind.
func set(field *string, given *string, belongs bool, name string, wrong fault.Fields) {
	switch {
	case given == nil:
	case !belongs:
		wrong.Add(name, "does not go with this kind")
	default:
		*field = *given
	}
}

// apply changes a rule; a resolution threshold that does not go with a new threshold becomes the usual one.
func (e *Edit) apply(r *Rule, now time.Time, wrong fault.Fields) {
	if e.Name != nil {
		r.Name = strings.TrimSpace(*e.Name)
		wrong.Name("name", r.Name, 1, 64)
	}
	if e.Enabled != nil {
		r.Enabled = *e.Enabled
	}
	if (e.WindowMinutes != nil || e.MinCalls != nil) && !r.Kind.windowed() {
		wrong.Add("windowMinutes", "does not go with this kind")
	}
	if e.WindowMinutes != nil {
		r.WindowMinutes = *e.WindowMinutes
		if !slices.Contains(windows, r.WindowMinutes) {
			wrong.Add("windowMinutes", "must be 5, 10, 15, 30 or 60")
		}
	}
	if e.MinCalls != nil {
		r.MinCalls = *e.MinCalls
		if r.MinCalls < 1 || r.MinCalls > maxCalls {
			wrong.Add("minCalls", "must be an integer from %d to %d", 1, maxCalls)
		}
	}
	e.thresholds(r, wrong)
	if e.SilencedUntil != nil {
		r.SilencedUntil = nil
		if *e.SilencedUntil != "" {
			at, err := time.Parse(time.RFC3339, *e.SilencedUntil)
			at = at.Truncate(time.Millisecond)
			if err != nil || !at.After(now) || at.Year() > 2100 {
				wrong.Add("silencedUntil", "must be a time to come, of the form 2026-08-17T14:05:00+08:00")
			}
			r.SilencedUntil = &at
		}
	}
}

func (e *Edit) thresholds(r *Rule, wrong fault.Fields) {
	if r.Kind == DayClosed {
		if e.Threshold != nil || e.ResolveThreshold != nil {
			wrong.Add("threshold", "does not go with this kind")
		}
		return
	}
	usual := e.Threshold != nil || r.ResolveThreshold == 0
	if e.Threshold != nil {
		r.Threshold = *e.Threshold
	}
	most := float64(maxThreshold)
	switch r.Kind {
	case FailureRate, LimitUse:
		most = 100
	case BudgetUse:
		most = mostOfBudget
	}
	if !(r.Threshold > 0) || r.Threshold > most {
		wrong.Add("threshold", "must be a number above 0, at most %d", int64(most))
	}
	switch {
	case e.ResolveThreshold != nil:
		r.ResolveThreshold = *e.ResolveThreshold
	case usual:
		r.ResolveThreshold = usualResolve(r.Kind, r.Threshold)
	}
	backwards := r.ResolveThreshold > r.Threshold
	if r.Kind == KeyExpiry {
		backwards = r.ResolveThreshold < r.Threshold
	}
	if !(r.ResolveThreshold > 0) || r.ResolveThreshold > maxThreshold || backwards {
		wrong.Add("resolveThreshold", "must be above 0 and on the good side of the threshold")
	}
}

// usualResolve leaves room between firing and resolving, where figures move about a threshold.
func usualResolve(k Kind, threshold float64) float64 {
	const share = 0.8
	switch k {
	case FailureRate, P95, StatisticsBehind:
		return math.Round(threshold*share*1000) / 1000
	case LimitUse:
		if threshold > 20 {
			return threshold - 10
		}
		return threshold / 2
	default:
		return threshold
	}
}
