package ledger

import (
	"time"

	"callgate/internal/beijing"
)

const (
	// closedAfter is how long after midnight a day is compared, and closed: calls that began on it end by then, for
	// CALL_TIMEOUT is half an hour unless it is set. lateAfter is from when on its calls count as late: sooner, for the
	// clocks of gateways differ.
	closedAfter = 45 * time.Minute
	lateAfter   = 35 * time.Minute
)

// Rollups is how many tables of figures are filled with calls, and compared with them. A day that was compared before there
// was another one is compared again.
const Rollups = 8

// ClosedDay is the newest Beijing day that is compared with its rollups.
func ClosedDay(now time.Time) beijing.Day { return beijing.DayOf(now.Add(-closedAfter)) - 1 }

// SafeFrom is when everything that belongs to a day has been handed over.
func SafeFrom(day beijing.Day) time.Time { return day.End().Add(closedAfter) }

// Late tells whether calls of a day that are confirmed now may be missing in what it was found to be.
func Late(day beijing.Day, now time.Time) bool { return day < beijing.DayOf(now.Add(-lateAfter)) }
