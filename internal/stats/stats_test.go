package stats

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/retention"
)

var testModels = []string{"", "gpt", "claude", "rare"}

// randomCallStore holds calls of four applications around now: dense hours, sparse weeks, the edges of
// days and of what is retained, ties of a millisecond, and calls of the last minutes.
func randomCallStore(t *testing.T, random *rand.Rand, now time.Time) (l *callStore, applications []uuid.UUID) {
	l = newCallStore(t)
	today := beijing.Today(now)
	var rows []row
	put := func(application uuid.UUID, start time.Time) {
		model := testModels[random.IntN(len(testModels)-1)]
		if random.IntN(40) == 0 {
			model = "rare"
		}
		rows = append(rows, randomRow(random, application, model, start))
	}
	var days []beijing.Day // few: every day is a partition of its own to write
	for range 8 {
		days = append(days, today-beijing.Day(random.IntN(432)), today-beijing.Day(random.IntN(30)))
	}
	for range 4 {
		application := uuid.New()
		applications = append(applications, application)
		for range 200 {
			d := days[random.IntN(len(days))]
			put(application, d.Start().Add(time.Duration(random.Int64N(int64(24*time.Hour)))))
		}
		dense := now.Add(-time.Duration(random.IntN(72)) * time.Hour)
		for range 400 { // one hour, many ties
			put(application, dense.Add(time.Duration(random.IntN(20_000))*time.Millisecond))
		}
		for range 100 { // the newest, some of them from clocks that are ahead
			put(application, now.Add(time.Duration(random.Int64N(int64(3*time.Hour)))-2*time.Hour))
		}
		for _, d := range []beijing.Day{today, today - 6, retention.Default.StatisticsFrom(today)} {
			put(application, d.Start())
			put(application, d.Start().Add(-time.Millisecond))
			put(application, d.End().Add(-time.Millisecond))
		}
	}
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for part := range slices.Chunk(rows, 1+len(rows)/2) {
		l.add(part...)
	}
	return l, applications
}

// clocks are moments of the test day: afternoon, just after midnight, and the last millisecond.
func clocks() []time.Time {
	today := beijing.Today(time.Now()).Start()
	return []time.Time{today.Add(14*time.Hour + 7*time.Minute), today.Add(5 * time.Minute), today.Add(24*time.Hour - time.Millisecond)}
}

func randomRange(random *rand.Rand, today beijing.Day) beijing.Range {
	end := today + 2 - beijing.Day(random.IntN(60))
	switch random.IntN(5) {
	case 0:
		return beijing.Range{Start: today, End: today}
	case 1:
		return beijing.LastDays(7, today)
	case 2:
		end = today - beijing.Day(random.IntN(450))
		return beijing.Range{Start: end - beijing.Day(random.IntN(beijing.MaxDays)), End: end}
	case 3:
		return beijing.LastDays(beijing.MaxDays, today)
	default:
		return beijing.Range{Start: end - beijing.Day(random.IntN(40)), End: end}
	}
}

func TestEveryFigureAgreesWithACountOfTheCallsThemselves(t *testing.T) {
	for i, now := range clocks() {
		seed := uint64(time.Now().UnixNano())
		random := rand.New(rand.NewPCG(seed, 0))
		l, applications := randomCallStore(t, random, now)
		for _, settings := range []string{"", "?session_timezone=America/Los_Angeles", "?session_timezone=Pacific/Kiritimati"} {
			t.Run(fmt.Sprintf("clock %d%s", i, settings), func(t *testing.T) {
				t.Logf("seed %d", seed)
				r := l.reader(now.In(time.FixedZone("elsewhere", (i-1)*11*3600)), settings)
				for range 4 {
					checkUsage(t, l, r, random, applications[:1+random.IntN(4)])
				}
				for cell := range 24 {
					r.limits = []scanLimits{defaultScanLimits, {day: 5, hour: 20}, {day: 50, hour: 2}}[cell%3]
					first := random.IntN(4)
					checkPage(t, l, r, random, applications[first:first+1+random.IntN(4-first)])
				}
			})
		}
	}
}

func checkUsage(t *testing.T, l *callStore, r *Reader, random *rand.Rand, applications []uuid.UUID) {
	t.Helper()
	today := beijing.Today(r.now())
	days := randomRange(random, today)
	byDay, byModel, byApplication := map[beijing.Day][]row{}, map[string][]row{}, map[uuid.UUID][]row{}
	var all []row
	for _, c := range l.rows {
		if slices.Contains(applications, c.application) && days.Contains(c.day()) && c.day() >= retention.Default.StatisticsFrom(today) {
			byDay[c.day()] = append(byDay[c.day()], c)
			byModel[c.model] = append(byModel[c.model], c)
			byApplication[c.application] = append(byApplication[c.application], c)
			all = append(all, c)
		}
	}
	usage, err := r.Usage(t.Context(), applications, days)
	if err != nil {
		t.Fatal(err)
	}
	sameMetrics(t, "summary", usage.Summary, all)
	if len(usage.Daily) != days.Days() || len(usage.Models) != len(byModel) {
		t.Fatalf("%d days and %d models, want %d and %d", len(usage.Daily), len(usage.Models), days.Days(), len(byModel))
	}
	for i, d := range usage.Daily {
		if d.Date != days.Start+beijing.Day(i) {
			t.Fatalf("day %d of %v is %s", i, days, d.Date)
		}
		sameMetrics(t, d.Date.String(), d.Metrics, byDay[d.Date])
	}
	for i, m := range usage.Models {
		sameMetrics(t, "model "+m.Model, m.Metrics, byModel[m.Model])
		if before := usage.Models[max(i-1, 0)]; before.Calls < m.Calls || i > 0 && before.Calls == m.Calls && before.Model >= m.Model {
			t.Errorf("model %q with %d calls stands after %q with %d", m.Model, m.Calls, before.Model, before.Calls)
		}
	}
	totals, err := r.Totals(t.Context(), applications, days)
	if err != nil {
		t.Fatal(err)
	}
	for _, application := range applications {
		sameMetrics(t, "application", totals[application], byApplication[application])
	}
}

func checkPage(t *testing.T, l *callStore, r *Reader, random *rand.Rand, applications []uuid.UUID) {
	t.Helper()
	today := beijing.Today(r.now())
	q := CallsQuery{Applications: applications, Range: randomRange(random, today), Size: []int{0, PageSize, 25, 100}[random.IntN(4)],
		Result: []Result{AnyResult, AnyResult, OnlySuccesses, OnlyFailures}[random.IntN(4)]}
	if random.IntN(2) == 0 {
		model := append(testModels, "never called")[random.IntN(len(testModels)+1)]
		q.Model = &model
	}
	matching, summary := l.selected(q, retention.Default.StatisticsFrom(today))
	size := int(q.size())
	last := (len(matching) + size - 1) / size
	q.Page = []int{1, 2, max(last, 1), max(last-1, 1), last + 1, 1 + random.IntN(last+1), 1 << 31}[random.IntN(7)]

	got, err := r.Calls(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	from := min((q.Page-1)*size, len(matching))
	want := []OwnedCall{}
	for _, c := range matching[from:min(from+size, len(matching))] {
		want = append(want, c.asCall())
	}
	if got.Total != int64(len(matching)) || got.Summary != summary {
		t.Errorf("%+v: total %d, %+v; want %d, %+v", q, got.Total, got.Summary, len(matching), summary)
	}
	if !reflect.DeepEqual(got.Items, want) {
		t.Errorf("%+v: page of %d\n got %+v\nwant %+v", q, len(matching), got.Items, want)
	}
	if models := l.models(applications); !slices.Equal(got.Models, models) {
		t.Errorf("models %q, want %q", got.Models, models)
	}
}

// models is every model the applications ever called, in any range.
func (l *callStore) models(applications []uuid.UUID) []string {
	var models []string
	for _, c := range l.rows {
		if slices.Contains(applications, c.application) {
			models = append(models, c.model)
		}
	}
	slices.Sort(models)
	return slices.Compact(models)
}

func TestAWalkIsAllPagesOneAfterTheOther(t *testing.T) {
	now := clocks()[0]
	random := rand.New(rand.NewPCG(1, 2))
	l, applications := randomCallStore(t, random, now)
	r := l.reader(now, "")
	r.limits = scanLimits{day: 7, hour: 11}
	q := CallsQuery{Applications: []uuid.UUID{applications[0]}, Range: beijing.LastDays(20, beijing.Today(now))}
	var walked, paged []OwnedCall
	if err := r.Walk(t.Context(), q, func(c OwnedCall) error { walked = append(walked, c); return nil }); err != nil {
		t.Fatal(err)
	}
	for q.Page = 1; ; q.Page++ {
		page, err := r.Calls(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) == 0 {
			break
		}
		paged = append(paged, page.Items...)
	}
	matching, _ := l.selected(q, 0)
	if len(walked) != len(matching) || !reflect.DeepEqual(walked, paged) {
		t.Errorf("%d calls walked, %d paged, %d there", len(walked), len(paged), len(matching))
	}
}

func TestNoApplicationAndNoRetainedDayMeanNoCallsNotAnError(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	r := l.reader(now, "")
	today := beijing.Today(now)
	old := beijing.Range{Start: retention.Default.StatisticsFrom(today) - 10, End: retention.Default.StatisticsFrom(today) - 1}
	for _, ids := range [][]uuid.UUID{nil, {uuid.New()}} {
		for _, days := range []beijing.Range{old, beijing.LastDays(7, today)} {
			usage, err := r.Usage(t.Context(), ids, days)
			if err != nil || usage.Summary != (Metrics{}) || len(usage.Daily) != days.Days() || usage.Models == nil || len(usage.Models) != 0 {
				t.Errorf("usage of %v: %+v, %v", days, usage, err)
			}
			if totals, err := r.Totals(t.Context(), ids, days); err != nil || len(totals) != 0 {
				t.Errorf("totals of %v: %v, %v", days, totals, err)
			}
			page, err := r.Calls(context.Background(), CallsQuery{Applications: ids, Range: days, Page: 1})
			if err != nil || page.Total != 0 || page.Items == nil || page.Models == nil {
				t.Errorf("calls of %v: %+v, %v", days, page, err)
			}
		}
	}
}
