package limits

import (
	"testing"
	"time"

	"callgate/internal/redistest"

	"github.com/google/uuid"
)

// TestTokensThatAnAnswerDoesNotTellStayCountedAsEstimated: neither calls whose answers say nothing, nor failures between
// them, make a limit hold less.
func TestTokensThatAnAnswerDoesNotTellStayCountedAsEstimated(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{"a day": {TokensPerDay: 5000}, "a minute": {TokensPerMinute: 5000}} {
		f := newFleet(t, redistest.Start(t), usual, 1, limits)
		l := f.limiters[0]
		end := func(tokens int64, all bool) (counted int64, admitted bool) {
			ticket, reached := l.Admit(l.scopes(f.application, uuid.Nil), time.Now())
			if reached != nil {
				return 0, false
			}
			return l.End(ticket, tokens, all), true
		}
		for range 2 {
			if counted, admitted := end(800, true); !admitted || counted != 800 {
				t.Fatalf("%s: %d are counted of a call that told 800, admitted %v", name, counted, admitted)
			}
		}
		for range 20 { // refused by the upstream: they use nothing, and are no measure of the others
			if counted, admitted := end(0, true); !admitted || counted != 0 {
				t.Fatalf("%s: %d are counted of a call that failed, admitted %v", name, counted, admitted)
			}
		}
		if counted, admitted := end(1000, false); !admitted || counted != 1000 {
			t.Errorf("%s: %d are counted of a call of which 1,000 were seen, admitted %v", name, counted, admitted)
		}
		left := 0
		for range 20 {
			counted, admitted := end(26, false)
			if !admitted {
				continue
			}
			if left++; counted != 800 {
				t.Errorf("%s: %d are counted of a call that told 26 and left, want the estimate of 800", name, counted)
			}
		}
		if left < 2 || left > 4 { // of 2,400
			t.Errorf("%s: %d calls that left are admitted to 2,400 tokens, 800 each", name, left)
		}
	}
}

// TestWithoutALimitOfTokensNothingIsEstimated.
func TestWithoutALimitOfTokensNothingIsEstimated(t *testing.T) {
	t.Parallel()
	f := newFleet(t, redistest.Start(t), usual, 1, Limits{CallsPerDay: 10})
	l := f.limiters[0]
	ticket, reached := l.Admit(l.scopes(f.application, uuid.Nil), time.Now())
	if reached != nil {
		t.Fatal(reached)
	}
	if n := l.End(ticket, 1000, false); n != 0 {
		t.Errorf("%d tokens are counted", n)
	}
}
