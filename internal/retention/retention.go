// Package retention says how long calls, their statistics and the detail of failures are kept: what is answered, and
// how much longer rows live. Every place that knows of it, from the tables' times to live to the
// console's texts, takes it from here.
package retention

import "callgate/internal/beijing"

// Days is how many Beijing days before today are answered.
type Days struct {
	Statistics int // rollups: figures of applications and accounts
	Calls      int // raw calls: the call flow, exports, detail, and what verify recounts; at most Statistics
	Failures   int // redacted requests of failed calls, today included; at most Calls
}

// Default is what is kept when nothing else is said: a year may be compared with the one before's month.
var Default = Days{Statistics: 399, Calls: 399, Failures: 30}

// The settings.
const (
	StatisticsVariable = "STATISTICS_RETENTION_DAYS"
	CallsVariable      = "CALL_RETENTION_DAYS"
	FailuresVariable   = "FAILURE_RETENTION_DAYS"
)

const (
	least = 7    // the range that is shown first
	most  = 3650 // a partition a day, of which a server takes some thousands
)

const (
	// margin is how many days longer rows live than they are answered: a server takes partitions away by a clock
	// and a time zone of its own, and totals and pages must not disagree at the edge.
	margin = 35
	// failureMargin is the same for the detail of failures, which is worth more gone: the day that ends, so that it
	// is the answer alone that says "expired".
	failureMargin = 1
)

// Faults tells fault of each value that cannot be used, in a sentence.
func (d Days) Faults(fault func(format string, args ...any)) {
	if d.Statistics < least || d.Statistics > most {
		fault(StatisticsVariable+" must be a number of days from %d to %d", least, most)
	}
	if d.Calls < least || d.Calls > d.Statistics {
		fault(CallsVariable+" must be a number of days from %d to "+StatisticsVariable+" (%d); unset it means as many", least, d.Statistics)
	}
	if d.Failures < 1 || d.Failures > d.Calls {
		fault(FailuresVariable+" must be a number of days from 1 to "+CallsVariable+" (%d), for a failure's detail is found by its call", d.Calls)
	}
}

// StatisticsFrom is the first day whose statistics are answered.
func (d Days) StatisticsFrom(today beijing.Day) beijing.Day { return today - beijing.Day(d.Statistics) }

// CallsFrom is the first day whose calls are answered.
func (d Days) CallsFrom(today beijing.Day) beijing.Day { return today - beijing.Day(d.Calls) }

// FailuresFrom is the first day whose failures are answered with their detail.
func (d Days) FailuresFrom(today beijing.Day) beijing.Day { return today - beijing.Day(d.Failures) + 1 }

// Lives is how many days rows live.
func (d Days) Lives() Days {
	return Days{Statistics: d.Statistics + margin, Calls: d.Calls + margin, Failures: d.Failures + failureMargin}
}

// Survivors is the first day of which everything is certainly still there when rows have lived for so many days until
// today: a server's clock and zone may be a day ahead.
func Survivors(today beijing.Day, lived int) beijing.Day { return today - beijing.Day(lived) + 2 }
