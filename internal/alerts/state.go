package alerts

import (
	"math"
	"time"
)

// Value is what a rule is found to be.
type Value string

// The values.
const (
	OK     Value = "ok"
	Firing Value = "firing"
)

// Why nothing could be found of a rule.
const (
	NotEvaluated = "not_evaluated"
	Behind       = "statistics_behind"
	NoStore      = "store_unavailable"
	NoData       = "no_data"
)

// inARow is how many evaluations have to agree before a state changes.
const inARow = 2

// State is what was found of a rule.
type State struct {
	Value       Value
	Told        Value      // what whoever is to be told knows
	Since       *time.Time // of Value; nil: it was never evaluated
	Streak      int        // evaluations in a row that speak against Value
	Unknown     string     // why the last evaluation found nothing; empty: it found something
	Measured    *float64
	Figures     Figures
	Sequence    int64 // of the last event; 0: none
	EvaluatedAt *time.Time
}

// Measure is what is found of a rule's target at one instant.
type Measure struct {
	Unknown string  // why nothing is known; empty: Value is
	Value   float64 // in the unit of the rule; infinite where there is nothing to measure, as the days until no key expires
	Few     bool    // of too few calls for a state to begin to fire
	Figures Figures
}

// next is the state after a measure. Where nothing is known it stays what it is: missing data is no change.
func (s State) next(r *Rule, m Measure, now time.Time) State {
	s.EvaluatedAt, s.Unknown = &now, m.Unknown
	if s.Since == nil {
		s.Since = &now
	}
	if m.Unknown != "" {
		return s
	}
	s.Figures, s.Measured = m.Figures, nil
	if !math.IsInf(m.Value, 0) {
		s.Measured = &m.Value
	}
	against := s.Value == OK && !m.Few && r.breached(m.Value) || s.Value == Firing && r.cleared(m.Value)
	if !against {
		s.Streak = 0
		return s
	}
	if s.Streak++; s.Streak < inARow {
		return s
	}
	s.Streak, s.Since = 0, &now
	if s.Value == OK {
		s.Value = Firing
	} else {
		s.Value = OK
	}
	return s
}

// rewriteAfter is how old what is kept of a state may become though nothing about it has changed.
const rewriteAfter = time.Minute

// stale tells whether s must be kept in place of what is.
func (s State) stale(kept State) bool {
	return s.Value != kept.Value || s.Streak != kept.Streak || s.Unknown != kept.Unknown ||
		kept.EvaluatedAt == nil || s.EvaluatedAt.Sub(*kept.EvaluatedAt) >= rewriteAfter
}
