package stats

import (
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

func TestTheLastUseOfAKeyIsItsLastCallOfThatApplication(t *testing.T) {
	l := newCallStore(t)
	application, one, two := uuid.New(), uuid.New(), uuid.New()
	day := time.Now().Truncate(time.Millisecond).AddDate(0, 0, -40)
	insert := func(application, key uuid.UUID, at time.Time) {
		t.Helper()
		err := l.conn.Exec(t.Context(), `INSERT INTO calls (application_id, key_id, start_time, call_id, model, duration_ms, ended_by)
			SELECT $1, $2, fromUnixTimestamp64Milli($3::Int64), generateUUIDv4(), 'gpt', 1, 'complete'`, application, key, at.UnixMilli())
		if err != nil {
			t.Fatal(err)
		}
	}
	insert(application, one, day.Add(3*time.Hour))
	insert(application, one, day)
	insert(application, two, day.Add(time.Hour))
	insert(application, uuid.Nil, day.Add(5*time.Hour)) // of an earlier version
	insert(uuid.New(), one, day.Add(9*time.Hour))
	uses, err := l.reader(time.Now(), "").LastUses(t.Context(), application)
	want := map[uuid.UUID]string{one: beijing.Format(day.Add(3 * time.Hour)), two: beijing.Format(day.Add(time.Hour))}
	if err != nil || !maps.Equal(uses, want) {
		t.Errorf("last used %v, %v; want %v", uses, err, want)
	}
}
