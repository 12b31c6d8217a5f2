package stats

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestWindowsKnowCallsAsLongAsTheyMayBe: a call that ended just now is in the window, however long before it began, as long as
// calls may take that long; and a bound below two hours does not narrow what is read.
func TestWindowsKnowCallsAsLongAsTheyMayBe(t *testing.T) {
	l := newCallStore(t)
	now := time.Now().Truncate(time.Millisecond)
	application := uuid.New()
	for _, took := range []time.Duration{time.Second, 110 * time.Minute, 5 * time.Hour} {
		c := failedRow(application, now.Add(-time.Second-took))
		c.durationMs = uint32(took.Milliseconds()) //nolint:gosec // hours
		if err := l.arrive([]row{c}); err != nil {
			t.Fatal(err)
		}
	}
	r := l.reader(now, "")
	for _, try := range []struct {
		longest time.Duration
		calls   int64
	}{{30 * time.Minute, 2}, {5 * time.Hour, 3}} {
		r.Expect(try.longest)
		found, err := r.Windows(t.Context(), ByApplication, []string{application.String()}, now.Add(-5*time.Minute), now)
		if err != nil || found[application.String()].Calls != try.calls {
			t.Errorf("calls of at most %s: %+v, %v", try.longest, found, err)
		}
	}
}
