package ship_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/ledger/ship"
	"callgate/internal/calls/spool"
)

// answers gives names that models go by.
type answers struct {
	*stores
	t     *testing.T
	start time.Time
}

// one is a call of an application that a model answered.
func (a answers) one(by uuid.UUID, name string) *calls.Record {
	r := callstest.Success(a.start)
	r.ApplicationID, r.Usage.Model = by, name
	return r
}

// ship records calls as a gateway that starts for them and ends, one batch of all.
func (a answers) ship(records ...*calls.Record) {
	a.t.Helper()
	gateway := a.Record(a.t, spool.Config{Dir: a.t.TempDir()})
	for _, r := range records {
		gateway.Add(r)
	}
	if err := ledgertest.Shut(gateway); err != nil {
		a.t.Error(err)
	}
}

// of are calls that each of several applications had answered by n models of its own.
func (a answers) of(n int, by ...uuid.UUID) (records []*calls.Record) {
	for _, application := range by {
		for i := range n {
			records = append(records, a.one(application, own(application, i)))
		}
	}
	return records
}

func own(application uuid.UUID, i int) string { return fmt.Sprintf("%s-%d", application, i) }

func (a answers) owner(applications int) (owner uuid.UUID, ids []uuid.UUID) {
	a.t.Helper()
	owner = uuid.New()
	if _, err := a.Pool.Exec(a.t.Context(), `INSERT INTO users (id, email) VALUES ($1, $1::uuid::text || '@example.com')`, owner); err != nil {
		a.t.Fatal(err)
	}
	for range applications {
		id := uuid.New()
		if _, err := a.Pool.Exec(a.t.Context(), `INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'app')`, id, owner); err != nil {
			a.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return owner, ids
}

func (a answers) price(model string) {
	a.t.Helper()
	if _, err := a.Pool.Exec(a.t.Context(), `INSERT INTO prices (id, capability_id, upstream_model, from_day, currency, input, output, created_by, updated_by)
		VALUES ($1, $2, $3, $4, 'USD', 1, 2, 'test', 'test')`, uuid.New(), callstest.Success(a.start).Model, model, beijing.DayOf(a.start).String()); err != nil {
		a.t.Fatal(err)
	}
}

// names is how many names the calls of applications are stored under, alike in rows and rollup.
func (a answers) names(by ...uuid.UUID) int64 {
	a.t.Helper()
	const query = `SELECT toInt64(uniqExact(upstream_model)) FROM %s WHERE has($1, toString(application_id)) AND upstream_model NOT IN ('', 'other')`
	var ids []string
	for _, id := range by {
		ids = append(ids, id.String())
	}
	n := a.Number(a.t, fmt.Sprintf(query, "calls"), ids)
	if rolled := a.Number(a.t, fmt.Sprintf(query, "tokens_daily"), ids); rolled != n {
		a.t.Errorf("%d names in calls, %d in tokens_daily", n, rolled)
	}
	return n
}

func (a answers) expect(wants map[string]int64) {
	a.t.Helper()
	for name, want := range wants {
		if n := a.Number(a.t, `SELECT toInt64(count()) FROM calls WHERE upstream_model = $1`, name); n != want {
			a.t.Errorf("%d calls are of %q, want %d", n, name, want)
		}
	}
}

func openAnswers(t *testing.T) answers {
	t.Helper()
	t.Parallel()
	a := answers{openStores(t), t, time.Now().Add(-time.Minute)}
	if _, err := a.Pool.Exec(t.Context(), `WITH g AS (INSERT INTO capability_groups (id, name) VALUES ('g', 'Group') RETURNING id)
		INSERT INTO capabilities (id, name, group_id, upstream_base_url, upstream_key) SELECT $1, 'Capability', id, 'https://upstream.example', '' FROM g`, callstest.Success(a.start).Model); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAnOwnerHasFiftyNamesADayAndTakesNoneFromOthers, however many applications answer by names of their own, and those
// that are deleted: several gateways, and those that start again, agree on what there is.
func TestAnOwnerHasFiftyNamesADayAndTakesNoneFromOthers(t *testing.T) {
	a := openAnswers(t)
	owner, flood := a.owner(4)
	_, others := a.owner(2)
	for _, application := range flood[:3] { // each by a gateway of its own
		a.ship(a.of(30, application)...)
	}
	if n := a.names(flood...); n != ship.MaxUpstreamModels {
		t.Errorf("the flood's owner has %d names", n)
	}
	if _, err := a.Pool.Exec(t.Context(), `DELETE FROM applications WHERE id = $1`, flood[0]); err != nil {
		t.Fatal(err)
	}
	a.ship(a.of(5, flood[3])...)
	if n := a.names(flood...); n != ship.MaxUpstreamModels {
		t.Errorf("after one of %s was deleted there are %d names", owner, n)
	}
	unknown := uuid.New()
	a.ship(a.of(40, others...)...) // both of one owner
	a.ship(append(a.of(60, unknown), a.one(flood[1], own(flood[1], 0)), a.one(flood[3], own(flood[1], 0)), a.one(flood[3], own(others[0], 0)), a.one(others[1], own(others[0], 0)), a.one(flood[2], ""))...)
	for _, of := range [][]uuid.UUID{flood, others, {unknown}} {
		if n := a.names(of...); n != ship.MaxUpstreamModels {
			t.Errorf("%d names of %s", n, of)
		}
	}
	a.expect(map[string]int64{
		own(flood[1], 0):  3, // the owner's own, whichever application
		own(flood[2], 29): 0, own(flood[3], 0): 0,
		own(others[0], 0): 2, // the flood's owner has no name left for it
		"":                1,
		ship.OtherModel:   40 + 5 + 30 + 10 + 1,
	})
	if n, want := a.Number(t, `SELECT toInt64(count()) FROM calls`), int64(90+5+80+65); n != want {
		t.Errorf("%d calls, want %d", n, want)
	}
}

// TestNamesInThePriceBookAlwaysCount, and take none of those of the owner.
func TestNamesInThePriceBookAlwaysCount(t *testing.T) {
	a := openAnswers(t)
	_, flood := a.owner(2)
	_, victim := a.owner(1)
	a.ship(a.of(70, flood...)...)
	for i := range 60 {
		a.price(own(victim[0], i))
	}
	a.ship(append(a.of(60, victim...), a.one(flood[0], own(victim[0], 0)))...)
	var unpriced []*calls.Record
	for i := range 60 {
		unpriced = append(unpriced, a.one(victim[0], fmt.Sprintf("unpriced-%d", i)))
	}
	a.ship(unpriced...)
	if n := a.names(victim...); n != 60+ship.MaxUpstreamModels {
		t.Errorf("%d names of who has 60 with a price", n)
	}
	a.expect(map[string]int64{own(victim[0], 0): 2, own(victim[0], 59): 1, "unpriced-49": 1, "unpriced-50": 0})
}

// TestAGatewayThatRunsOnLearnsOfNames that others brought in meanwhile, and of prices.
func TestAGatewayThatRunsOnLearnsOfNames(t *testing.T) {
	a := openAnswers(t)
	_, flood := a.owner(2)
	running := a.Record(t, spool.Config{Dir: t.TempDir(), SealAfter: time.Millisecond})
	added := int64(0)
	record := func(records ...*calls.Record) {
		t.Helper()
		for _, r := range records {
			running.Add(r)
		}
		added += int64(len(records))
		for end := time.Now().Add(30 * time.Second); a.Number(t, `SELECT toInt64(sum(reported)) FROM tokens_daily`) < added; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the calls are not stored")
			}
		}
	}
	record(a.of(30, flood[0])...)
	a.ship(a.of(30, flood[1])...) // of which 10 become other
	added += 30
	record(a.one(flood[0], own(flood[1], 19)), a.one(flood[0], own(flood[1], 20)), a.one(flood[0], own(flood[0], 29)))
	a.price("gpt-5")
	record(a.one(flood[0], "gpt-5"))
	a.expect(map[string]int64{own(flood[1], 19): 2, own(flood[1], 20): 0, own(flood[0], 29): 2, "gpt-5": 1, ship.OtherModel: 11})
}

// TestTwoGatewaysAtOnceKeepToTwiceTheNames at most: what either had decided, both keep.
func TestTwoGatewaysAtOnceKeepToTwiceTheNames(t *testing.T) {
	a := openAnswers(t)
	_, flood := a.owner(2)
	a.ship(a.of(60, uuid.New())...)
	var at sync.WaitGroup
	for _, application := range flood {
		at.Go(func() { a.ship(a.of(60, application)...) })
	}
	at.Wait()
	n := a.names(flood...)
	if n < ship.MaxUpstreamModels || n > 2*ship.MaxUpstreamModels {
		t.Errorf("%d names of one owner", n)
	}
	again := slices.Concat(a.of(60, flood[0]), a.of(60, flood[1]))
	a.ship(again...)
	if now := a.names(flood...); now != n {
		t.Errorf("%d names became %d", n, now)
	}
	if odd := a.Number(t, `SELECT toInt64(count()) FROM (SELECT upstream_model FROM calls WHERE upstream_model NOT IN ('', 'other') AND has($1, toString(application_id)) GROUP BY upstream_model HAVING count() != 2)`,
		[]string{flood[0].String(), flood[1].String()}); odd != 0 {
		t.Errorf("%d names counted at one time and not at another", odd)
	}
}
