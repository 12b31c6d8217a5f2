package limits

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestTheConsoleSeesWhatTheGatewaysCount, of what has a limit.
func TestTheConsoleSeesWhatTheGatewaysCount(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	f := newFleet(t, s, usual, 2, Limits{RequestsPerMinute: 1000, Concurrency: 10, CallsPerDay: 1000})
	rdb := s.client()
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
	if _, reached := l.Admit(l.Of(nil, f.application, uuid.Nil), time.Now()); reached != nil {
		t.Fatal("refused")
	}
	eventually(t, func() bool { // leases and slots that are not used go back
		u, err := reader.Usage(t.Context(), f.application)
		if err != nil {
			t.Fatal(err)
		}
		return *u.RequestsInMinute >= 11 && *u.RequestsInMinute < 100 && u.CallsToday != nil && *u.CallsToday >= 11 && *u.Concurrent >= 1
	})
}
