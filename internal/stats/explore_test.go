package stats

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// said is a call with what its caller said of it, and what it used.
type said struct {
	row
	key           uuid.UUID
	upstream      string
	tags          []Tag
	user          string
	upstreamModel string
	input, output *uint32
}

func (c said) label(q Explored) string {
	switch q.GroupBy {
	case PerApplication:
		return c.application.String()
	case PerCapability:
		return c.model
	case PerUpstreamModel:
		return c.upstreamModel
	case PerKey:
		if c.key == uuid.Nil {
			return ""
		}
		return c.key.String()
	case PerStatus:
		return strconv.Itoa(int(c.status))
	case PerReason:
		if c.reasonType == "" {
			return ""
		}
		return c.reasonType + ":" + c.reasonCode
	case PerEnding:
		return c.endedBy
	case PerTag:
		if i := slices.IndexFunc(c.tags, func(t Tag) bool { return t.Name == q.Tag }); i >= 0 {
			return c.tags[i].Value
		}
	case PerUser:
		return c.user
	case PerUpstream:
		return c.upstream
	case PerOwner:
		if i := slices.IndexFunc(q.Owned, func(o Owned) bool { return o.Application == c.application }); i >= 0 {
			return q.Owned[i].Owner.String()
		}
	}
	return ""
}

func (c said) part(by Interval) int64 {
	day := c.day()
	switch by {
	case Hourly:
		return c.start.Truncate(time.Hour).Unix()
	case Daily:
		return day.Start().Unix()
	case Weekly:
		return (day - (day+3)%7).Start().Unix()
	case Monthly:
		return beijing.Date(day.Start().Year(), day.Start().Month(), 1).Start().Unix()
	}
	return 0
}

// matches tells whether a question is about the call.
func (c said) matches(q Explored) bool {
	only := q.Only
	for _, tag := range only.Dimensions.Tags {
		if !slices.Contains(c.tags, tag) {
			return false
		}
	}
	asked := slices.Contains(q.Applications, c.application)
	if q.Everyone != nil && q.Applications == nil {
		asked = !slices.Contains(q.Everyone.InRows.Except, c.application)
	}
	return asked && q.Range.Contains(c.day()) && (only.Model == nil || *only.Model == c.model) &&
		(only.Result == AnyResult || (only.Result == OnlySuccesses) == c.success) && (only.Key == uuid.Nil || only.Key == c.key) &&
		(only.Outcome.Status == 0 || only.Outcome.Status == c.status) && (len(only.Dimensions.EndUsers) == 0 || slices.Contains(only.Dimensions.EndUsers, c.user))
}

func insertSaid(t *testing.T, l *callStore, calls []said) {
	t.Helper()
	ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 0}))
	batch, err := l.conn.PrepareBatch(ctx, "INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, first_byte_ms, ended_by, reason_type, reason_code, key_id, upstream_model, upstream_id, usage_state, input_tokens, output_tokens, `tags.name`, `tags.value`, end_user)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		var names, values []string
		for _, tag := range c.tags {
			names, values = append(names, tag.Name), append(values, tag.Value)
		}
		if err := batch.Append(c.application, c.start, c.id, c.model, c.durationMs, c.status, c.success, c.firstByteMs, c.endedBy, c.reasonType, c.reasonCode, c.key,
			c.upstreamModel, c.upstream, "reported", c.input, c.output, names, values, c.user); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

// TestExploreTellsWhatTheCallsThemselvesGive to random questions over calls with hostile tags and users, beside a count by hand.
// EXPLORE_QUESTIONS asks more.
func TestExploreTellsWhatTheCallsThemselvesGive(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(41, 1))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	number := func(most int) *uint32 {
		n := uint32(random.IntN(most))
		if random.IntN(4) == 0 {
			return nil
		}
		return &n
	}
	now := beijing.Date(2026, 3, 2).Start().Add(15 * time.Hour)
	applications, owners, keys := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}, []uuid.UUID{uuid.New(), uuid.New()}, []uuid.UUID{uuid.Nil, uuid.New(), uuid.New()}
	hostile := []string{"search", "ads", "it's", `back\slash`, "[a','b']", "语言", "{x:String}", "--", `"q"`, "%_"}
	var calls []said
	for range 4000 {
		status := []uint16{200, 200, 200, 429, 502, 499}[random.IntN(6)]
		c := said{row: row{application: applications[random.IntN(3)], start: now.Add(-time.Duration(random.Int64N(int64(33 * 24 * time.Hour)))).Truncate(time.Millisecond), model: pick("gpt", "claude", ""),
			durationMs: uint32(random.IntN(5000)), status: status, success: status == 200, firstByteMs: number(900), endedBy: pick("complete", "client_abort")},
			key: keys[random.IntN(3)], upstream: pick("eu", "us", ""), user: pick(append(hostile, "")...), upstreamModel: pick("gpt-5", "o'1", ""), input: number(1000), output: number(100)}
		if !c.success {
			c.reasonType, c.reasonCode = pick("timeout", "limited"), pick("upstream_timeout", "rate_limited")
		}
		for _, name := range []string{"feature", "team"} {
			if random.IntN(3) > 0 {
				c.tags = append(c.tags, Tag{name, hostile[random.IntN(len(hostile))]})
			}
		}
		c.id = callID(c.start)
		calls = append(calls, c)
	}
	l := newCallStore(t)
	insertSaid(t, l, calls)
	fromRows, fromProjection := l.reader(now, ""), l.reader(now, "?force_optimize_projection=1")
	questions := 150
	if more, err := strconv.Atoi(os.Getenv("EXPLORE_QUESTIONS")); err == nil {
		questions = more
	}
	ranks := map[Rank]func(said) int64{
		MostCalls: func(said) int64 { return 1 }, MostFailures: func(c said) int64 { return one(!c.success) }, MostInput: func(c said) int64 { return of(c.input) },
		MostTokens: func(c said) int64 { return of(c.input) + of(c.output) }, MostOutput: func(c said) int64 { return of(c.output) },
	}
	for n := range questions {
		first := beijing.DayOf(now) - beijing.Day(random.IntN(31))
		q := Explored{Applications: applications[:1+random.IntN(3)], Range: beijing.Range{Start: first, End: first + beijing.Day(random.IntN(int(beijing.DayOf(now)-first)+1))},
			GroupBy:  []Dimension{Ungrouped, PerApplication, PerCapability, PerUpstreamModel, PerKey, PerStatus, PerReason, PerEnding, PerTag, PerUser}[random.IntN(10)],
			Interval: []Interval{Whole, Hourly, Daily, Weekly, Monthly}[random.IntN(5)], Durations: []Durations{NoDurations, OfCalls, FirstBytes}[random.IntN(3)]}
		if q.GroupBy == PerTag {
			q.Tag = pick("team", "feature", "absent")
		}
		if random.IntN(3) == 0 {
			model := pick("gpt", "")
			q.Only.Model = &model
		}
		q.Only.Result = Result(pick("", "", "success", "failure"))
		if random.IntN(4) == 0 {
			q.Only.Key = keys[random.IntN(3)]
		}
		if random.IntN(4) == 0 {
			q.Only.Dimensions.Tags = []Tag{{"team", hostile[random.IntN(len(hostile))]}}
		}
		if random.IntN(4) == 0 {
			q.Only.Dimensions.EndUsers = []string{hostile[random.IntN(len(hostile))], "nobody"}
		}
		by := slices.Sorted(maps.Keys(ranks))[random.IntN(len(ranks))]
		if by.OfTokens() {
			q.Wanted, q.Durations = WantTokens, NoDurations
		}
		if random.IntN(2) == 0 {
			administrators(random, &q, applications, owners)
		}
		r := fromRows
		if q.fromProjection() {
			r = fromProjection
		}
		most := 1 + random.IntN(6)
		groups, err := r.Foremost(t.Context(), q, by, most)
		if err != nil {
			t.Fatal(err)
		}
		if want := foremost(calls, q, ranks[by], most); !slices.Equal(groups, want) {
			t.Fatalf("question %d, %+v by %s: %q, want %q", n, q, by, groups, want)
		}
		got, err := r.Explore(t.Context(), q, groups)
		if err != nil {
			t.Fatal(err)
		}
		if want := explored(calls, q, groups); !reflect.DeepEqual(got, want) {
			t.Fatalf("question %d, %+v: %v, want %v", n, q, got, want)
		}
		if q.Wanted = WantUsage; !q.FromCalls() { // of projections some of which have no meters
			r = fromRows
		}
		used := map[ExploredPlace]int64{}
		err = r.ExploreUsage(t.Context(), q, groups, Priced{}, func(at ExploredPlace, m *ModelTokens) { used[at] += m.Input.N + m.Output.N })
		if want := exploredUsage(calls, q, groups); err != nil || !maps.Equal(used, want) {
			t.Fatalf("question %d, %+v: %v used, want %v: %v", n, q, used, want, err)
		}
	}
}

// administrators makes a question one of all applications but the last, or of some, by owner now and then.
func administrators(random *rand.Rand, q *Explored, applications, owners []uuid.UUID) {
	q.Everyone = &Explorers{}
	if random.IntN(2) == 0 {
		last := applications[len(applications)-1:]
		q.Everyone = &Explorers{InUsage: Everyone{Except: last}, InRows: Everyone{Except: last}}
	}
	if random.IntN(3) > 0 {
		q.Applications = nil
	}
	q.GroupBy = []Dimension{Ungrouped, PerApplication, PerCapability, PerUpstreamModel, PerStatus, PerReason, PerEnding, PerOwner, PerUpstream}[random.IntN(9)]
	q.Only.Key, q.Only.Dimensions = uuid.Nil, Dimensions{}
	if q.GroupBy == PerOwner {
		for i, application := range applications[:2] { // the last one's owner is of none
			q.Owned = append(q.Owned, Owned{application, owners[i]})
		}
	}
}

// fromProjection tells whether a question must be answered from a projection.
func (q Explored) fromProjection() bool {
	switch {
	case q.FromCalls():
		return !q.FromRows()
	case q.Everyone == nil || q.Interval == Hourly && q.Wanted == WantCalls || len(q.Applications)+len(q.Everyone.InRows.Except) > 0:
		return false
	case q.GroupBy == PerApplication || q.GroupBy == PerOwner:
		return q.Wanted == WantCalls && q.Durations == NoDurations
	}
	return q.Durations == NoDurations
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func of(n *uint32) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

// counts tells whether the table that is asked has the call.
func (c said) counts(q Explored) bool {
	return c.matches(q) && (q.FromCalls() || q.Wanted == WantCalls || c.input != nil || c.output != nil)
}

func foremost(calls []said, q Explored, rank func(said) int64, most int) []string {
	sums := map[string]int64{}
	for _, c := range calls {
		if c.counts(q) {
			sums[c.label(q)] += rank(c)
		}
	}
	groups := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	return groups[:min(most, len(groups))]
}

// place is where a call stands, among some groups.
func (c said) place(q Explored, groups []string) ExploredPlace {
	at := ExploredPlace{Group: c.label(q), Start: c.part(q.Interval)}
	if !slices.Contains(groups, at.Group) {
		at.Other, at.Group = true, ""
	}
	return at
}

func exploredUsage(calls []said, q Explored, groups []string) map[ExploredPlace]int64 {
	used := map[ExploredPlace]int64{}
	for _, c := range calls {
		if c.counts(q) {
			used[c.place(q, groups)] += of(c.input) + of(c.output)
		}
	}
	return used
}

func explored(calls []said, q Explored, groups []string) map[ExploredPlace]ExploredFigures {
	figures, durations := map[ExploredPlace]ExploredFigures{}, map[ExploredPlace][]int64{}
	for _, c := range calls {
		if !c.counts(q) {
			continue
		}
		for _, at := range c.place(q, groups).Sums() {
			switch {
			case q.Durations == OfCalls:
				durations[at] = append(durations[at], middleOf(int64(c.durationMs)))
			case q.Durations == FirstBytes && c.firstByteMs != nil:
				durations[at] = append(durations[at], int64(*c.firstByteMs))
			case q.Durations == NoDurations:
				f := figures[at]
				f.Calls++
				if q.FromCalls() || q.Wanted == WantCalls {
					f.Successes += one(c.success)
				}
				if q.FromCalls() || q.Wanted == WantTokens {
					f.Input, f.Output = f.Input+of(c.input), f.Output+of(c.output)
				}
				figures[at] = f
			}
		}
	}
	for at, all := range durations {
		slices.Sort(all)
		rank := func(percent int) *int64 { return &all[(len(all)*percent+99)/100-1] }
		figures[at] = ExploredFigures{P50: rank(50), P95: rank(95), P99: rank(99)}
	}
	return figures
}

// middleOf is what a duration counts as: the middle of its bucket, each power of two from 64 ms on being 32 of them.
func middleOf(ms int64) int64 {
	width := int64(1)
	for ms/width >= 64 {
		width *= 2
	}
	return ms/width*width + width/2
}
