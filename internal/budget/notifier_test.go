package budget

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/databasetest"
)

// TestAThresholdIsToldOnceAPeriod: of several at once the highest; the forecast when the rate says something; all again in the
// next period, and of another amount.
func TestAThresholdIsToldOnceAPeriod(t *testing.T) {
	r := databasetest.New(t)
	s, owner := New(r.Pool), uuid.New()
	r.Exec(`INSERT INTO users (id, email) VALUES ($1, 'owner@example.com')`, owner)
	of, admin := Subject{Scope: ForOwner, Owner: owner}, Who{Email: "admin@example.com"}
	set := func(amount string) {
		t.Helper()
		if err := s.Replace(r.Ctx, admin, of, []Draft{{Period: "day", Amount: amount, Currency: "USD", Action: Warn}}); err != nil {
			t.Fatal(err)
		}
	}
	set("100")
	var spent int64
	var now time.Time
	var told []string
	notifier := &Notifier{store: s, config: NotifierConfig{Pool: r.Pool, Logger: slog.New(slog.DiscardHandler), now: func() time.Time { return now },
		Spent: func(_ context.Context, asks []Ask) ([]Spent, error) {
			return []Spent{{Amount: decimal.NewFromInt(spent)}}, nil
		},
		Notify: func(_ context.Context, n Notice) {
			on := "never"
			if n.UsedUpOn != nil {
				on = n.UsedUpOn.String()
			}
			told = append(told, fmt.Sprintf("%d %% of %s, used up %s", n.Percent, n.Holds, on))
		}}}
	for _, step := range []struct {
		at    string
		spent int64
		want  string
	}{
		{"2026-03-01T00:30:00+08:00", 10, ""}, // too early to foresee anything
		{"2026-03-01T06:00:00+08:00", 10, ""},
		{"2026-03-01T06:00:00+08:00", 30, "0 % of 100, used up 2026-03-01"},
		{"2026-03-01T07:00:00+08:00", 35, ""},
		{"2026-03-01T12:00:00+08:00", 85, "80 % of 100, used up 2026-03-01"},
		{"2026-03-01T12:00:15+08:00", 86, ""},
		{"2026-03-01T18:00:00+08:00", 100, "100 % of 100, used up 2026-03-01"},
		{"2026-03-01T18:00:15+08:00", 400, ""},
		{"2026-03-02T23:00:00+08:00", 55, "50 % of 100, used up never"},
	} {
		at, err := time.Parse(time.RFC3339, step.at)
		if err != nil {
			t.Fatal(err)
		}
		now, spent, told = at, step.spent, nil
		if err := notifier.tell(r.Ctx); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(told); got != "["+step.want+"]" {
			t.Errorf("%s, %d spent: told %s, want %s", step.at, step.spent, got, step.want)
		}
	}
	set("60")
	if err := notifier.tell(r.Ctx); err != nil || fmt.Sprint(told[1:]) != "[80 % of 60, used up never]" {
		t.Errorf("%v, %v of another amount", told, err)
	}
}
