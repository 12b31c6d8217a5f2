//go:build nightly

package days

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/ledger/ledgertest"
)

func TestConsolesKilledWhileTheyCloseCloseEachDayOnce(t *testing.T) {
	t.Parallel()
	const number = daysListed - 3 // listed beside yesterday and today, also if midnight comes meanwhile
	k := openClosing(t, number)
	k.settle()
	kills := 0
	untilClosed := func(revision int) {
		for stop := time.Now().Add(10 * time.Minute); ; kills++ {
			var closed int
			if err := k.Pool.QueryRow(t.Context(), `SELECT count(*) FROM days d JOIN day_revisions r ON r.day = d.day AND r.revision = d.revision
				WHERE d.state = 'closed' AND d.revision = $1 AND r.exported_at IS NOT NULL AND d.day < $2`, revision, (k.first + number).UTC()).Scan(&closed); err != nil {
				t.Fatal(err)
			}
			if closed == number {
				return
			}
			if time.Now().After(stop) {
				t.Fatalf("%d of %d days are closed after %d kills", closed, number, kills)
			}
			// Killed ever later in its work: before, in and after the transactions and the exports of some days; a machine
			// that is too busy to close one in a tenth of a second gets more.
			ledgertest.RunAndKill(t, fmt.Sprint(k.URL, " ", k.Pool.Config().ConnString()), time.Duration(5+kills%25*4)*time.Millisecond*time.Duration(1+kills/100))
			k.settle()
		}
	}
	untilClosed(1)
	var late []*calls.Record
	for day := range number {
		late = append(late, k.call(k.first+beijing.Day(day), 13))
	}
	k.Shipped(t, late...)
	k.settle()
	untilClosed(2)
	for i := range number {
		k.closed(i, 2)
		if events := k.events(k.first + beijing.Day(i)); !slices.Equal(events, []string{"closed 1", "reopened 1", "closed 2"}) {
			t.Errorf("day %d: %v", i, events)
		}
	}
	k.exported()
	t.Logf("%d days closed twice with %d kills", number, kills)
}
