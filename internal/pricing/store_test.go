package pricing

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

const admin = "admin@example.com"

var newYear = beijing.Date(2026, time.January, 1)

type world struct {
	*Store
	databasetest.Database
}

// newWorld is an empty book beside the capabilities chat and embed.
func newWorld(t *testing.T) *world {
	t.Helper()
	database := databasetest.New(t)
	database.Exec(`INSERT INTO capability_groups (id, name) VALUES ('g', 'Group')`)
	for _, id := range []string{"chat", "embed"} {
		database.Exec(`INSERT INTO capabilities (id, name, group_id, upstream_base_url, upstream_key) VALUES ($1, $1, 'g', 'https://upstream.example', '')`, id)
	}
	return &world{New(database.Pool), database}
}

// chat is a price of chat for any model from New Year on.
func chat(change ...func(*Draft)) Draft {
	d := Draft{CapabilityID: "chat", From: newYear.String(), Currency: "CNY", Input: "2", Output: "8"}
	for _, c := range change {
		c(&d)
	}
	return d
}

func (w *world) put(d Draft) Price {
	w.T.Helper()
	p, err := w.Put(w.Ctx, admin, d)
	if err != nil {
		w.T.Fatal(err)
	}
	return p
}

// holding is what the book says of a day, in short.
func (w *world) holding(model string, day beijing.Day) string {
	w.T.Helper()
	book, err := w.Book(w.Ctx)
	if err != nil {
		w.T.Fatal(err)
	}
	p, holds := book.Price("chat", model, day)
	if !holds {
		return "unpriced"
	}
	return p.Currency + " " + p.Input.String()
}

func (w *world) lastEntry() string {
	w.T.Helper()
	rows, _, err := audit.List(w.Ctx, w.Pool, audit.Filter{}, 1, 1)
	if err != nil || len(rows) != 1 {
		w.T.Fatalf("audit: %v, %v", rows, err)
	}
	return fmt.Sprint(rows[0].Actor, " ", rows[0].Action, " ", rows[0].TargetName, " ", rows[0].Changes)
}

func TestThePriceOfADayIsTheNewestOfItsModelElseOfAny(t *testing.T) {
	w := newWorld(t)
	model := func(name string) func(*Draft) { return func(d *Draft) { d.UpstreamModel = &name } }
	from := func(day beijing.Day, input string) func(*Draft) {
		return func(d *Draft) { d.From, d.Input = day.String(), input }
	}
	w.put(chat(from(newYear+10, "10")))
	w.put(chat(from(newYear, "1")))
	w.put(chat(from(newYear+5, "5"), model("large")))
	for _, c := range []struct {
		model string
		day   beijing.Day
		want  string
	}{
		{"", newYear - 1, "unpriced"}, {"", newYear, "CNY 1"}, {"", newYear + 9, "CNY 1"}, {"", newYear + 10, "CNY 10"}, {"", newYear + 500, "CNY 10"},
		{"large", newYear + 4, "CNY 1"}, {"large", newYear + 5, "CNY 5"}, {"large", newYear + 10, "CNY 5"},
		{"Large", newYear + 5, "CNY 1"}, {"other", newYear + 10, "CNY 10"},
	} {
		if got := w.holding(c.model, c.day); got != c.want {
			t.Errorf("%q on %s: %s, want %s", c.model, c.day, got, c.want)
		}
	}
}

func TestACorrectedPriceShowsAtOnceInEveryProcess(t *testing.T) {
	w := newWorld(t)
	other := &world{New(w.Pool), w.Database}
	made := w.put(chat())
	for i, change := range []func(){
		func() {},
		func() { w.put(chat(func(d *Draft) { d.Input = "3" })) },
		func() { other.put(chat(func(d *Draft) { d.Input, d.Currency = "0.5", "USD" })) },
		func() { w.Exec(`UPDATE prices SET input = 7`) }, // by hand
		func() {
			if err := other.Delete(w.Ctx, admin, made.ID); err != nil {
				t.Fatal(err)
			}
		},
	} {
		change()
		want := []string{"CNY 2", "CNY 3", "USD 0.5", "USD 7", "unpriced"}[i]
		if here, there := w.holding("", newYear), other.holding("", newYear); here != want || there != want {
			t.Errorf("after change %d: %s and %s, want %s", i, here, there, want)
		}
	}
}

func TestTheBookIsLoadedOnlyWhenItChanged(t *testing.T) {
	w := newWorld(t)
	w.put(chat())
	before, err := w.Book(w.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.Exec(`UPDATE capabilities SET name = 'Renamed'`)
	if again, err := w.Book(w.Ctx); err != nil || again != before {
		t.Errorf("loaded again: %v", err)
	}
	w.put(chat(func(d *Draft) { d.From = (newYear + 1).String() }))
	if after, err := w.Book(w.Ctx); err != nil || after == before {
		t.Errorf("not loaded: %v", err)
	}
	if p, _ := before.Price("chat", "", newYear+1); p.From != newYear {
		t.Error("a book that somebody holds has changed")
	}
}

func TestTheSameDayIsReplacedAndAnotherDayAddedAndEachIsAudited(t *testing.T) {
	w := newWorld(t)
	cached := "0.2000"
	made := w.put(chat(func(d *Draft) { d.Cached = &cached }))
	if got, want := w.lastEntry(), "admin@example.com price.create chat 2026-01-01 [{currency <nil> CNY} {input <nil> 2} {cached <nil> 0.2} {cacheWrite <nil> <nil>} {output <nil> 8}]"; got != want {
		t.Errorf("audit %s\nwant  %s", got, want)
	}
	same := w.put(chat(func(d *Draft) { d.Input, d.Cached = "2.0", &cached }))
	if entries := w.Count(`SELECT count(*) FROM audit_log`); same.ID != made.ID || !same.UpdatedAt.Equal(made.UpdatedAt) || entries != 1 {
		t.Errorf("the same again: %+v and %d entries", same, entries)
	}
	corrected, err := w.Put(w.Ctx, "second@example.com", chat(func(d *Draft) { d.Currency, d.Input = "USD", "2.5" }))
	if err != nil || corrected.ID != made.ID || !corrected.UpdatedAt.After(made.UpdatedAt) || corrected.CreatedBy != admin || corrected.UpdatedBy != "second@example.com" {
		t.Errorf("corrected %+v, %v", corrected, err)
	}
	if got, want := w.lastEntry(), "second@example.com price.update chat 2026-01-01 [{currency CNY USD} {input 2 2.5} {cached 0.2 <nil>}]"; got != want {
		t.Errorf("audit %s\nwant  %s", got, want)
	}
	large := "large-2026"
	w.put(chat(func(d *Draft) { d.UpstreamModel = &large }))
	w.put(chat(func(d *Draft) { d.From = (newYear + 1).String() }))
	w.put(Draft{CapabilityID: "embed", From: newYear.String(), Currency: "USD", Input: "0.02", Output: "0"})
	var listed []string
	all, err := w.List(w.Ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		listed = append(listed, p.CapabilityID+"/"+p.UpstreamModel+"/"+p.From.String())
	}
	if got := strings.Join(listed, " "); got != "chat//2026-01-02 chat//2026-01-01 chat/large-2026/2026-01-01 embed//2026-01-01" {
		t.Errorf("listed %s", got)
	}
	if only, err := w.List(w.Ctx, "embed"); err != nil || len(only) != 1 {
		t.Errorf("of embed: %+v, %v", only, err)
	}
	if err := w.Delete(w.Ctx, admin, made.ID); err != nil {
		t.Fatal(err)
	}
	if got, want := w.lastEntry(), "admin@example.com price.delete chat 2026-01-01 [{currency USD <nil>} {input 2.5 <nil>} {cached <nil> <nil>} {cacheWrite <nil> <nil>} {output 8 <nil>}]"; got != want {
		t.Errorf("audit %s\nwant  %s", got, want)
	}
	databasetest.MustFail(t, w.Delete(w.Ctx, admin, made.ID), fault.NotFound)
	databasetest.MustFail(t, w.Delete(w.Ctx, admin, uuid.New()), fault.NotFound)
}

func TestEveryWrongFieldOfAPriceIsNamed(t *testing.T) {
	w := newWorld(t)
	none := ""
	for _, c := range []struct {
		change func(*Draft)
		field  string
	}{
		{func(d *Draft) { d.CapabilityID = "" }, "capabilityId"},
		{func(d *Draft) { d.CapabilityID = "unknown" }, "capabilityId"},
		{func(d *Draft) { d.CapabilityID = "a\x00b" }, "capabilityId"},
		{func(d *Draft) { d.UpstreamModel = &none }, "upstreamModel"},
		{func(d *Draft) { long := strings.Repeat("m", 257); d.UpstreamModel = &long }, "upstreamModel"},
		{func(d *Draft) { d.From = "" }, "from"},
		{func(d *Draft) { d.Currency = "" }, "currency"},
		{func(d *Draft) { d.Currency = "usd" }, "currency"},
		{func(d *Draft) { d.Currency = "ZZZ" }, "currency"},
		{func(d *Draft) { d.Currency = "XXX" }, "currency"},
		{func(d *Draft) { d.Currency = "US$" }, "currency"},
		{func(d *Draft) { d.Output = "" }, "output"},
		{func(d *Draft) { d.Cached = &none }, "cached"},
		{func(d *Draft) { d.CacheWrite = &none }, "cacheWrite"},
	} {
		_, err := w.Put(w.Ctx, admin, chat(c.change))
		databasetest.MustFail(t, err, fault.Invalid, c.field)
	}
	for _, text := range []string{"-1", "+1", "1e3", ".5", "5.", "1.0000000000001", "1000000000", "1,5", " 1", "NaN", "Infinity", "0x10", "１"} {
		_, err := w.Put(w.Ctx, admin, chat(func(d *Draft) { d.Input = text }))
		databasetest.MustFail(t, err, fault.Invalid, "input")
	}
	for _, text := range []string{"0", "0.0001", "999999999.999999999999", "0.000000000001", "007.50"} {
		w.put(chat(func(d *Draft) { d.Input = text }))
	}
	for _, text := range []string{"1999-12-31", "2101-01-01", "2026-02-30", "today", "2026-1-1"} {
		_, err := w.Put(w.Ctx, admin, chat(func(d *Draft) { d.From = text }))
		databasetest.MustFail(t, err, fault.InvalidDate)
	}
	_, err := w.Put(w.Ctx, admin, Draft{})
	databasetest.MustFail(t, err, fault.Invalid, "capabilityId", "from", "currency", "input", "output")
}

func TestACorrectionOfWhatSomebodyElseCorrectedIsRefused(t *testing.T) {
	w := newWorld(t)
	made := w.put(chat())
	seen := made.UpdatedAt.Truncate(time.Millisecond)
	corrected := w.put(chat(func(d *Draft) { d.Input = "3" }))
	current, err := w.Put(w.Ctx, admin, chat(func(d *Draft) { d.Input = "4" }), seen)
	databasetest.MustFail(t, err, fault.Changed)
	if current.ID != made.ID || current.Input.String() != "3" || !current.UpdatedAt.Equal(corrected.UpdatedAt) {
		t.Errorf("told %+v", current)
	}
	if _, err := w.Put(w.Ctx, admin, chat(), corrected.UpdatedAt.Truncate(time.Millisecond)); err != nil {
		t.Error(err)
	}
	_, err = w.Put(w.Ctx, admin, chat(func(d *Draft) { d.From = (newYear + 1).String() }), seen)
	databasetest.MustFail(t, err, fault.NotFound)
}

func TestPutsAtOnceLeaveOneRowADayAndABookThatIsTheTable(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			d := chat(func(d *Draft) { d.From, d.Input = (newYear + beijing.Day(i%4)).String(), fmt.Sprint(i) })
			if _, err := w.Put(w.Ctx, admin, d); err != nil {
				t.Error(err)
			}
			if _, err := w.Book(w.Ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	prices, err := w.List(w.Ctx, "chat")
	if err != nil || len(prices) != 4 {
		t.Fatalf("%d rows, %v", len(prices), err)
	}
	for _, p := range prices {
		if got, want := w.holding("", p.From), "CNY "+p.Input.String(); got != want {
			t.Errorf("%s: the book says %s, the table %s", p.From, got, want)
		}
	}
}
