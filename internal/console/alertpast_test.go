package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/alerts"
	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/openapi"
)

// endedCall is a call as the oracle of previews knows it.
type endedCall struct {
	start  time.Time
	ms     int64
	failed bool
}

func (c endedCall) end() time.Time { return c.start.Add(time.Duration(c.ms) * time.Millisecond) }

// aged makes an application older, and gives when it was made.
func (w *watcher) aged(app string, by time.Duration) time.Time {
	w.t.Helper()
	made := w.now.Add(-by).Truncate(time.Millisecond)
	if _, err := w.pool.Exec(w.t.Context(), `UPDATE applications SET created_at = $2 WHERE id = $1`, app, made); err != nil {
		w.t.Fatal(err)
	}
	return made
}

// happened stores calls that failures, slowness and silence come and go among, from a time until now, some of an hour.
func (w *watcher) happened(random *rand.Rand, app string, from time.Time, most time.Duration) (happened []endedCall) {
	w.t.Helper()
	batch, err := w.clickhouse.BeginTx(w.t.Context(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	insert, err := batch.PrepareContext(w.t.Context(), `INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by)`)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = insert.Close() }()
	for at := from; at.Before(w.now); {
		phase := at.Add(time.Duration(1+random.Int64N(int64(most/time.Second))) * time.Second)
		if random.IntN(4) == 0 {
			at = phase
			continue
		}
		failing, slow := random.Float64()*random.Float64(), 50+random.Int64N(4000)
		pause := (phase.Sub(at) / time.Duration(1+random.Int64N(120))).Milliseconds() + 1
		for ; at.Before(phase) && at.Before(w.now); at = at.Add(time.Duration(1+random.Int64N(2*pause)) * time.Millisecond) {
			c := endedCall{start: at, ms: random.Int64N(slow), failed: random.Float64() < failing}
			if random.IntN(200) == 0 {
				c.ms = random.Int64N(time.Hour.Milliseconds())
			}
			if c.end().After(w.now) {
				continue
			}
			happened = append(happened, c)
			if _, err := insert.ExecContext(w.t.Context(), app, c.start, calls.NewCallID(c.start), "gpt", uint32(c.ms), uint16(200), !c.failed, "complete"); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if err := batch.Commit(); err != nil {
		w.t.Fatal(err)
	}
	slices.SortFunc(happened, func(a, b endedCall) int { return a.end().Compare(b.end()) })
	return happened
}

// wouldFire evaluates a rule every ten seconds on calls, ordered by their ends, without any of what evaluates alerts.
func wouldFire(r openapi.AlertPreviewDraft, happened []endedCall, from, to time.Time) (fired []openapi.AlertFiring) {
	resolve := *r.ResolveThreshold
	firing, streak, seen, last := false, 0, 0, from
	for at := from; !at.After(to); at = at.Add(10 * time.Second) {
		var value float64
		few := false
		if alerts.Kind(r.Kind) == alerts.NoCalls {
			for ; seen < len(happened) && !happened[seen].end().After(at); seen++ {
				if start := happened[seen].start; start.After(last) {
					last = start
				}
			}
			value = at.Sub(last).Minutes()
		} else {
			window := happened[after(happened, at.Add(-time.Duration(*r.WindowMinutes)*time.Minute)):after(happened, at)]
			if len(window) == 0 {
				continue
			}
			few = int64(len(window)) < *r.MinCalls
			failures, took := 0, make([]int64, len(window))
			for i, c := range window {
				took[i] = c.ms
				if c.failed {
					failures++
				}
			}
			if value = 100 * float64(failures) / float64(len(window)); alerts.Kind(r.Kind) == alerts.P95 {
				slices.Sort(took)
				value = float64(took[int(math.Ceil(0.95*float64(len(took))))-1])
			}
		}
		if firing {
			fired[len(fired)-1].Worst = max(fired[len(fired)-1].Worst, value)
		}
		if !firing && (value < *r.Threshold || few) || firing && value >= resolve {
			streak = 0
			continue
		}
		if streak++; streak < 2 {
			continue
		}
		firing, streak = !firing, 0
		text := beijing.Format(at)
		if firing {
			fired = append(fired, openapi.AlertFiring{From: text, Worst: value})
		} else {
			fired[len(fired)-1].To = &text
		}
	}
	return fired
}

// after is how many calls ended at a time or before it.
func after(happened []endedCall, at time.Time) int {
	n, _ := slices.BinarySearchFunc(happened, at, func(c endedCall, at time.Time) int {
		return cmp.Or(c.end().Compare(at), -1)
	})
	return n
}

func (c *client) preview(of openapi.AlertPreviewDraft) openapi.AlertPreview {
	c.t.Helper()
	return dataOf[openapi.AlertPreview](c.t, c.must(200, "POST", "/api/alerts/preview", encoded(c.t, of)))
}

func encoded(t *testing.T, of any) string {
	t.Helper()
	body, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func mustParse(t *testing.T, text string) time.Time {
	t.Helper()
	at, ok := beijing.Parse(text)
	if !ok {
		t.Fatal(text)
	}
	return at
}

// fires demands that a preview tells what fired.
func fires(t *testing.T, draft openapi.AlertPreviewDraft, found openapi.AlertPreview, want []openapi.AlertFiring) {
	t.Helper()
	n := len(want)
	last := slices.Clone(want[max(0, n-alerts.PreviewFirings):])
	slices.Reverse(last)
	if found.Count == nil || *found.Count != int64(n) || len(last)+len(found.Items) > 0 && !reflect.DeepEqual(found.Items, last) {
		t.Fatalf("%s would fire\n%s, want %d times\n%s", encoded(t, draft), encoded(t, found), n, encoded(t, last))
	}
}

func ptr[T any](v T) *T { return &v }

// TestAPreviewTellsWhatEvaluationsWouldHaveFound of random calls and rules, against an oracle that evaluates each ten seconds.
func TestAPreviewTellsWhatEvaluationsWouldHaveFound(t *testing.T) {
	w := newWatcher(t)
	w.seed("gpt")
	dev := w.developer("dev")
	random := rand.New(rand.NewPCG(7, 30))
	rules, firings := 0, 0
	for _, of := range []struct {
		age, phase time.Duration
		rules      int
	}{{2 * time.Hour, 10 * time.Minute, 150}, {9 * time.Hour, 20 * time.Minute, 150}, {45 * 24 * time.Hour, 20 * time.Hour, 12}} {
		app := w.application(dev, fmt.Sprintf("Of %s", of.age))
		happened := w.happened(random, app, w.aged(app, of.age), of.phase)
		for range of.rules {
			draft := openapi.AlertPreviewDraft{TargetType: "application", TargetID: &app}
			draft.Kind = []string{"failureRate", "p95", "noCalls"}[random.IntN(3)]
			switch draft.Kind {
			case "failureRate":
				draft.Threshold = ptr(1 + float64(random.IntN(60)))
			case "p95":
				draft.Threshold = ptr(1 + float64(random.IntN(5000)))
			default:
				draft.Threshold = ptr(of.age.Minutes() / float64(20+random.IntN(200)))
			}
			draft.ResolveThreshold = ptr(*draft.Threshold * (1 - random.Float64()*float64(random.IntN(2))))
			if draft.Kind != "noCalls" {
				draft.WindowMinutes, draft.MinCalls = ptr([]int64{5, 10, 15, 30, 60}[random.IntN(5)]), ptr(1+random.Int64N(30))
			}
			found := dev.preview(draft)
			from, to := mustParse(t, found.From), mustParse(t, found.To)
			if span := to.Sub(from); span > 30*24*time.Hour || span < min(of.age, 30*24*time.Hour)-time.Minute {
				t.Fatalf("looked at %s", span)
			}
			want := wouldFire(draft, happened, from, to)
			fires(t, draft, found, want)
			rules, firings = rules+1, firings+len(want)
		}
	}
	t.Logf("%d rules, which would have fired %d times; 0 differences", rules, firings)
}

// TestAPreviewOfTokensAndCostTellsTheDaysOnWhichTheyWereReached in random days of two months, by the day and by the month.
func TestAPreviewOfTokensAndCostTellsTheDaysOnWhichTheyWereReached(t *testing.T) {
	w := newWatcher(t)
	w.seed("gpt")
	w.priceGPT() // 2 and 8 dollars a million
	dev := w.developer("dev")
	app := w.application(dev, "Spender")
	w.aged(app, 90*24*time.Hour)
	random := rand.New(rand.NewPCG(3, 30))
	now, spent := w.now, map[beijing.Day]int{}
	for day := beijing.Today(now) - 61; day <= beijing.Today(now); day++ {
		if random.IntN(3) > 0 {
			spent[day] = 1000 * (1 + random.IntN(1000))
			w.now = day.Start()
			w.usedTokens(app, "gpt", spent[day], 0)
		}
	}
	w.now = now
	firings := 0
	for range 100 {
		draft := openapi.AlertPreviewDraft{TargetType: "application", TargetID: &app, Period: ptr([]string{"day", "month"}[random.IntN(2)])}
		threshold := 1000 * (1 + random.IntN(map[string]int{"day": 1000, "month": 20_000}[*draft.Period]))
		if draft.Kind = []string{"tokens", "cost"}[random.IntN(2)]; draft.Kind == "tokens" {
			draft.Threshold = ptr(float64(threshold))
		} else {
			draft.Threshold, draft.Currency = ptr(float64(threshold)*2/1_000_000), ptr("USD")
		}
		found := dev.preview(draft)
		first, today := beijing.DayOf(mustParse(t, found.From)), beijing.Today(now)
		var want []openapi.AlertFiring
		for start := beijing.MonthOf(first).Start; start <= today; {
			period := beijing.Range{Start: start, End: start}
			if *draft.Period == "month" {
				period = beijing.MonthOf(start)
			}
			sum, reached := 0, beijing.Day(0)
			for day := range period.Each() {
				if sum += spent[day]; day <= today && sum >= threshold && reached == 0 {
					reached = day
				}
			}
			if reached >= first {
				fired := openapi.AlertFiring{From: beijing.Format(reached.Start()), Worst: float64(sum)}
				if draft.Kind == "cost" {
					fired.Worst = float64(sum) * 2 / 1_000_000
				}
				if period.End < today {
					fired.To = ptr(beijing.Format(period.End.End()))
				}
				want = append(want, fired)
			}
			start = period.End + 1
		}
		fires(t, draft, found, want)
		firings += len(want)
	}
	t.Logf("100 rules, which would have fired %d times; 0 differences", firings)
}

// TestARuleThatWouldHaveFiredFiresWithTheSameNumbers, by the evaluator, once it is saved.
func TestARuleThatWouldHaveFiredFiresWithTheSameNumbers(t *testing.T) {
	w := newWatcher(t)
	w.seed("gpt")
	w.priceGPT()
	dev := w.developer("dev")
	app := w.application(dev, "Search")
	w.aged(app, time.Hour)
	for n := range 40 {
		w.called(app, "gpt", time.Minute, 1000+n, 200+300*(n%2), "stamped")
	}
	w.usedTokens(app, "gpt", 100_000, 10_000) // 0.28 dollars
	kept := map[uuid.UUID]float64{}
	for _, draft := range []openapi.AlertPreviewDraft{
		{Kind: "failureRate", Threshold: ptr(40.0)}, {Kind: "p95", Threshold: ptr(900.0)},
		{Kind: "tokens", Threshold: ptr(110_000.0)}, {Kind: "cost", Threshold: ptr(0.28), Currency: ptr("USD")},
	} {
		draft.TargetType, draft.TargetID = "application", &app
		found := dev.preview(draft)
		if *found.Count != 1 || found.Items[0].To != nil {
			t.Fatalf("%s: %+v", draft.Kind, found)
		}
		made := dataOf[openapi.Alert](t, dev.must(201, "POST", "/api/alerts", encoded(t, openapi.AlertDraft{
			Name: draft.Kind, Kind: draft.Kind, TargetType: draft.TargetType, TargetID: draft.TargetID, Threshold: draft.Threshold, Currency: draft.Currency,
			Channels: []openapi.AlertChannelDraft{{Kind: "mail"}},
		})))
		kept[made.ID] = found.Items[0].Worst
	}
	service, err := alerts.Start(alerts.Config{
		Pool: w.pool, Source: w.console.Report.AlertSource(), Logger: slog.New(slog.DiscardHandler), Pages: "https://callgate.example",
		Mail: func(context.Context, string, string, string) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(t.Context())
	comesAbout(t, "firing", func() bool {
		listed := dataOf[openapi.AlertItems](t, dev.must(200, "GET", "/api/alerts", ""))
		firing := 0
		for _, a := range listed.Items {
			if a.State.Value != "firing" {
				continue
			}
			firing++
			if *a.State.Measured != kept[a.ID] {
				t.Errorf("%s is measured as %v, and was to be %v", a.Kind, *a.State.Measured, kept[a.ID])
			}
		}
		return firing == len(kept)
	})
}

// TestAPreviewSaysWhatItCannotAndKeepsOthersApplicationsApart.
func TestAPreviewSaysWhatItCannotAndKeepsOthersApplicationsApart(t *testing.T) {
	w := newWatcher(t)
	w.seed("gpt")
	dev, other := w.developer("dev"), w.developer("other")
	app, theirs := w.application(dev, "Search"), w.application(other, "Theirs")
	for _, kind := range []string{"limit", "budget", "keyExpiry", "upstreamLeftOut"} {
		draft := openapi.AlertPreviewDraft{Kind: kind, TargetType: "application", TargetID: &app, Threshold: ptr(80.0)}
		if kind == "limit" {
			draft.Limit = ptr("callsPerDay")
		}
		if found := dev.preview(draft); found.Count != nil || len(found.Items) != 0 {
			t.Errorf("%s: %+v", kind, found)
		}
	}
	if found := dev.preview(openapi.AlertPreviewDraft{Kind: "dayClosed", TargetType: "account"}); found.Count != nil {
		t.Errorf("%+v", found)
	}
	for _, id := range []string{theirs, uuid.NewString(), "x", uuid.Nil.String()} {
		dev.must(404, "POST", "/api/alerts/preview", fmt.Sprintf(`{"kind":"p95","targetType":"application","targetId":%q,"threshold":20}`, id))
	}
	dev.mustRefuse("POST", "/api/alerts/preview", fmt.Sprintf(`{"kind":"failureRate","targetType":"application","targetId":%q,"threshold":101}`, app), "threshold")
	dev.mustRefuse("POST", "/api/alerts/preview", `{"kind":"failureRate","targetType":"capability","targetId":"gpt","threshold":20}`, "targetType")
}
