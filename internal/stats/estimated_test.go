package stats

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestEstimatedTokensAreThoseOfAnApplicationsBeijingDay, from its first millisecond to its last.
func TestEstimatedTokensAreThoseOfAnApplicationsBeijingDay(t *testing.T) {
	l := newCallStore(t)
	application, now := uuid.New(), time.Now()
	today := beijing.Today(now)
	batch, err := l.conn.PrepareBatch(t.Context(), `INSERT INTO calls (application_id, start_time, call_id, user_id, model, status_code, success, ended_by, batch_id, estimated_tokens)`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of     uuid.UUID
		at     time.Time
		tokens uint32
	}{
		{application, today.Start(), 1<<32 - 1},
		{application, today.End().Add(-time.Millisecond), 1<<32 - 1},
		{application, today.Start().Add(time.Hour), 0},
		{application, today.Start().Add(-time.Millisecond), 7},
		{application, today.End(), 7},
		{uuid.New(), today.Start(), 7},
	} {
		if err := batch.Append(c.of, c.at, uuid.New(), uuid.Nil, "m", uint16(499), false, "client_abort", "batch", c.tokens); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	for day, want := range map[beijing.Day]int64{today: 2 * (1<<32 - 1), today - 1: 7, today - 2: 0} {
		if got, err := l.reader(now, "").EstimatedTokens(t.Context(), application, day); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", day, got, err, want)
		}
	}
}
