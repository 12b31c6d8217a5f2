package limits

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"callgate/internal/redistest"

	"github.com/google/uuid"
)

// TestTheConsoleSeesWhatTheGatewaysCount, of what has a limit.
func TestTheConsoleSeesWhatTheGatewaysCount(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	f := newFleet(t, s, usual, 2, Limits{RequestsPerMinute: 1000, Concurrency: 10, CallsPerDay: 1000})
	rdb := s.Client()
	defer func() { _ = rdb.Close() }()
	reader := NewReader(rdb)
	before, err := reader.Usage(t.Context(), f.application)
	if err != nil || before.RequestsInMinute == nil || *before.RequestsInMinute != 0 || before.Concurrent == nil || before.CallsToday != nil {
		t.Errorf("before any call: %+v, %v", before, err)
	}
	for range 5 {
		f.call(0, 0, 0)
		f.call(1, 0, 0)
	}
	l := f.limiters[0]
	if _, reached := l.Admit(l.scopes(f.application, uuid.Nil), time.Now()); reached != nil {
		t.Fatal("refused")
	}
	eventually(t, func() bool { // leases and slots that are not used go back
		u, err := reader.Usage(t.Context(), f.application)
		if err != nil {
			t.Fatal(err)
		}
		return *u.RequestsInMinute == 11 && u.CallsToday != nil && *u.CallsToday == 11 && *u.Concurrent == 1
	})
}

// TestUsedIsWhatWasUsed, and not what gateways have leased ahead of need, nor estimates of calls in flight: at once, on
// each gateway, and in the headers of both.
func TestUsedIsWhatWasUsed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	limits := Limits{RequestsPerMinute: 100_000, TokensPerMinute: 1_000_000, Concurrency: 500, CallsPerDay: 200_000, TokensPerDay: 2_000_000}
	f := newFleet(t, s, usual, 2, limits)
	rdb := s.Client()
	defer func() { _ = rdb.Close() }()
	admit := func(gateway int) Ticket {
		t.Helper()
		l := f.limiters[gateway]
		ticket, reached := l.Admit(l.scopes(f.application, uuid.Nil), time.Now())
		if reached != nil {
			t.Fatal(reached)
		}
		return ticket
	}
	told := func(calls, tokens, inFlight int64) func() bool {
		headers := fmt.Sprintf(`"requests";r=%d;t=60, "tokens";r=%d;t=60, "day-calls";r=%d;t=`, limits.RequestsPerMinute-calls, limits.TokensPerMinute-tokens, limits.CallsPerDay-calls)
		rest := []string{fmt.Sprintf(`"day-tokens";r=%d;t=`, limits.TokensPerDay-tokens), fmt.Sprintf(`"concurrency";r=%d`, limits.Concurrency-inFlight)}
		return func() bool {
			u, err := NewReader(rdb).Usage(t.Context(), f.application)
			if err != nil {
				t.Fatal(err)
			}
			if u.CallsToday == nil || u.TokensToday == nil || *u.RequestsInMinute != calls || *u.TokensInMinute != tokens || *u.Concurrent != inFlight || *u.CallsToday != calls || *u.TokensToday != tokens {
				return false
			}
			for _, l := range f.limiters {
				got := string(l.AppendHeaders(nil, l.scopes(f.application, uuid.Nil), time.Now()))
				for _, want := range append(rest, headers) {
					if !strings.Contains(got, want) {
						return false
					}
				}
			}
			return true
		}
	}
	var open []Ticket
	for range 60 { // in a hurry: leases grow far beyond what is used
		for gateway, l := range f.limiters {
			l.End(admit(gateway), 700, true)
			open = append(open, admit(gateway))
		}
	}
	eventually(t, told(240, 120*700, 120))
	for i, ticket := range open {
		f.limiters[i%2].End(ticket, 1, true)
	}
	eventually(t, told(240, 120*701, 0))
	f.limiters[0].Close() // and so after a gateway has ended
	f.limiters = f.limiters[1:]
	f.limiters[0].End(admit(0), 99, true)
	eventually(t, told(241, 120*701+99, 0))
}
