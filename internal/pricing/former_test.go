package pricing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
	"callgate/internal/meter"
)

// former is what the version before the meters says to the database, word by word.
type former struct{ *world }

func (f former) book() string {
	f.T.Helper()
	rows, err := f.Pool.Query(f.Ctx, `
	SELECT id, capability_id, upstream_model, from_day - date '1970-01-01', currency, input, cached, cache_write, output,
	       created_by, updated_by, created_at, updated_at
	FROM prices `)
	if err != nil {
		f.T.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var p Price
		err := row.Scan(&p.ID, &p.CapabilityID, &p.UpstreamModel, &p.From, &p.Currency, &p.Input, &p.Cached, &p.CacheWrite, &p.Output,
			&p.CreatedBy, &p.UpdatedBy, &p.CreatedAt, &p.UpdatedAt)
		or := func(d *decimal.Decimal) string {
			if d == nil {
				return "-"
			}
			return d.String()
		}
		return fmt.Sprintf("%s/%s %s %s/%s/%s/%s", p.CapabilityID, p.UpstreamModel, p.From, p.Input, or(p.Cached), or(p.CacheWrite), p.Output), err
	})
	if err != nil {
		f.T.Fatal(err)
	}
	return strings.Join(lines, ", ")
}

func (f former) insert(day beijing.Day, input string) {
	f.T.Helper()
	f.Exec(`
		INSERT INTO prices (id, capability_id, upstream_model, from_day, currency, input, cached, cache_write, output, created_by, updated_by)
		VALUES ($1, $2, $3, date '1970-01-01' + $4::integer, $5, $6, $7, $8, $9, $10, $10)`,
		uuid.New(), "chat", "", int32(day), "USD", input, nil, nil, "1", admin)
}

func (f former) update(id uuid.UUID, input string) {
	f.T.Helper()
	f.Exec(`
		UPDATE prices SET currency = $2, input = $3, cached = $4, cache_write = $5, output = $6,
		       updated_by = $7, updated_at = clock_timestamp()
		WHERE id = $1`, id, "CNY", input, nil, nil, "8", admin)
}

// said is what the book of now charges for a million tokens of input, and of the other meters that a price has amounts for.
func (w *world) said(day beijing.Day, tier string, band int64) string {
	w.T.Helper()
	book, err := w.Book(w.Ctx)
	if err != nil {
		w.T.Fatal(err)
	}
	p, _ := book.PriceOf(Usage{Capability: "chat", Tier: tier, Band: band, Day: day})
	return fmt.Sprint(p.Input, " ", p.Amounts)
}

// TestTheVersionBeforeWorksOnBesideThisOne: it takes no price of a tier or a band for one of any call, what it enters and corrects
// holds here, and what it does not know outlives its corrections.
func TestTheVersionBeforeWorksOnBesideThisOne(t *testing.T) {
	w := newWorld(t)
	old := former{w}
	old.insert(newYear-1, "1.5000")
	if got := w.said(newYear-1, "flex", 200_000); got != "1.5 map[]" {
		t.Errorf("what the version before entered: %s", got)
	}
	loud, long := "Flex", int64(200_000) // the ledger has tiers in lower case
	made := w.put(chat(func(d *Draft) { d.Input, d.Amounts = "2.000012345678", map[string]string{"web_searches": "10"} }))
	w.put(chat(func(d *Draft) { d.Input, d.Tier = "1", &loud }))
	w.put(chat(func(d *Draft) { d.Input, d.FromBand = "4", &long }))
	if got, want := old.book(), "chat/ 2025-12-31 1.5/-/-/1, chat/ 2026-01-01 2/-/-/8"; got != want {
		t.Errorf("the version before has %s, want %s", got, want)
	}
	if got := w.said(newYear, "", 0) + ", " + w.said(newYear, "flex", 0) + ", " + w.said(newYear, "", 200_000); got != "2.000012345678 map[web_searches:10], 1 map[], 4 map[]" {
		t.Errorf("this one has %s", got)
	}

	old.update(made.ID, "2") // the same to it: it never saw more
	if got := w.said(newYear, "", 0); got != "2.000012345678 map[web_searches:10]" {
		t.Errorf("after the same again: %s", got)
	}
	old.update(made.ID, "2.5")
	if got := w.said(newYear, "", 0); got != "2.5 map[web_searches:10]" {
		t.Errorf("after a correction by the version before: %s", got)
	}
	w.put(chat(func(d *Draft) { d.Input = "0.0000009" }))
	if got, want := old.book(), "chat/ 2025-12-31 1.5/-/-/1, chat/ 2026-01-01 0/-/-/8"; got != want {
		t.Errorf("the version before has %s, want %s", got, want)
	}
	w.Exec(`DELETE FROM prices WHERE id = $1`, made.ID) // by the version before
	if got := w.said(newYear, "", 0) + ", " + w.said(newYear, "flex", 0); got != "1.5 map[], 1 map[]" {
		t.Errorf("after it was taken out: %s", got)
	}
	if rows := w.Count(`SELECT count(*) FROM prices WHERE tier <> '' OR from_band <> 0`); rows != 0 {
		t.Errorf("%d prices of a tier or band where the version before sees them", rows)
	}
	if _, err := w.Pool.Exec(w.Ctx, `UPDATE prices SET tier = 'flex'`); err == nil {
		t.Error("a price of a tier can be stored where the version before takes it for one of any")
	}
}

func TestPricesOfTiersAndBandsAreEnteredCorrectedListedAuditedAndTakenOut(t *testing.T) {
	w := newWorld(t)
	flex, long, hour := "flex", int64(200_000), "6"
	of := func(change ...func(*Draft)) Draft {
		return chat(append([]func(*Draft){func(d *Draft) { d.Tier, d.FromBand, d.CacheWrite1H = &flex, &long, &hour }}, change...)...)
	}
	general := w.put(chat())
	made := w.put(of())
	if got, want := w.lastEntry(), "admin@example.com price.create chat flex >200000 2026-01-01 [{currency <nil> CNY} {input <nil> 2} {cached <nil> <nil>} {cacheWrite <nil> <nil>} {output <nil> 8} {amounts.cache_write_1h <nil> 6}]"; got != want {
		t.Errorf("audit %s\nwant  %s", got, want)
	}
	corrected := w.put(of(func(d *Draft) { d.CacheWrite1H, d.Amounts = nil, map[string]string{"images": "0.04"} }))
	if got, want := w.lastEntry(), "admin@example.com price.update chat flex >200000 2026-01-01 [{amounts.images <nil> 0.04} {amounts.cache_write_1h 6 <nil>}]"; got != want || corrected.ID != made.ID || corrected.ID == general.ID {
		t.Errorf("audit %s\nwant  %s; %+v", got, want, corrected)
	}
	w.put(of(func(d *Draft) { d.Tier = nil }))
	w.put(of(func(d *Draft) { d.FromBand = nil }))
	w.put(of(func(d *Draft) { d.From = (newYear + 1).String() }))
	all, err := w.List(w.Ctx, "chat")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, p := range all {
		listed = append(listed, fmt.Sprintf("%s>%d %s %v", p.Tier, p.FromBand, p.From, p.Amounts))
	}
	if got, want := strings.Join(listed, ", "), ">0 2026-01-01 map[], >200000 2026-01-01 map[cache_write_1h:6], flex>0 2026-01-01 map[cache_write_1h:6], "+
		"flex>200000 2026-01-02 map[cache_write_1h:6], flex>200000 2026-01-01 map[images:0.04]"; got != want {
		t.Errorf("listed %s\nwant   %s", got, want)
	}
	current, err := w.Put(w.Ctx, admin, of(), made.UpdatedAt)
	databasetest.MustFail(t, err, fault.Changed)
	if current.Tier != "flex" || current.FromBand != long || current.Amounts[meter.Images].String() != "0.04" {
		t.Errorf("told %+v", current)
	}
	if changed, err := w.ChangedSince(w.Ctx, made.UpdatedAt, newYear); err != nil || !changed {
		t.Errorf("no change of a tier's price is told: %v", err)
	}
	if err := w.Delete(w.Ctx, admin, made.ID); err != nil {
		t.Fatal(err)
	}
	if got, want := w.lastEntry(), "admin@example.com price.delete chat flex >200000 2026-01-01 [{currency CNY <nil>} {input 2 <nil>} {cached <nil> <nil>} {cacheWrite <nil> <nil>} {output 8 <nil>} {amounts.images 0.04 <nil>}]"; got != want {
		t.Errorf("audit %s\nwant  %s", got, want)
	}
	if got := w.said(newYear, "flex", long); got != "2 map[cache_write_1h:6]" {
		t.Errorf("then holds %s", got)
	}
}

func TestEveryWrongMeterTierAndBandIsNamed(t *testing.T) {
	w := newWorld(t)
	none, hour, ordinary := "", "6", "Standard"
	for _, c := range []struct {
		change func(*Draft)
		field  string
	}{
		{func(d *Draft) { d.Tier = &none }, "tier"},
		{func(d *Draft) { d.Tier = &ordinary }, "tier"},
		{func(d *Draft) { long := strings.Repeat("t", 65); d.Tier = &long }, "tier"},
		{func(d *Draft) { band := int64(100_000); d.FromBand = &band }, "fromBand"},
		{func(d *Draft) { band := int64(-1); d.FromBand = &band }, "fromBand"},
		{func(d *Draft) { d.Amounts = map[string]string{"thoughts": "1"} }, "amounts"},
		{func(d *Draft) { d.Amounts = map[string]string{"input": "1"} }, "amounts.input"},
		{func(d *Draft) { d.Amounts = map[string]string{"cache_write": "1"} }, "amounts.cache_write"},
		{func(d *Draft) { d.Amounts = map[string]string{"images": ""} }, "amounts.images"},
		{func(d *Draft) { d.Amounts = map[string]string{"pages": "1e3", "images": "0.04"} }, "amounts.pages"},
		{func(d *Draft) { d.CacheWrite1H = &none }, "cacheWrite1h"},
		{func(d *Draft) { d.CacheWrite1H, d.Amounts = &hour, map[string]string{"cache_write_1h": "6"} }, "cacheWrite1h"},
	} {
		_, err := w.Put(w.Ctx, admin, chat(c.change))
		databasetest.MustFail(t, err, fault.Invalid, c.field)
	}
}
