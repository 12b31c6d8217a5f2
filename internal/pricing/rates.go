package pricing

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// Exchange is how much of another currency one unit of a currency is, from a Beijing day on, until the next of the two. It is
// not taken the other way round, nor one after another: what administrators did not enter is not known.
type Exchange struct {
	ID                   uuid.UUID
	Currency, To         string // ISO 4217
	From                 beijing.Day
	Rate                 decimal.Decimal // above 0 and below 10^9, with at most twelve decimals
	CreatedBy, UpdatedBy string
	CreatedAt, UpdatedAt time.Time
}

// ExchangeDraft is one as an administrator enters it.
type ExchangeDraft struct {
	Currency   string
	From       string // YYYY-MM-DD, 2000 to 2100; days to come too
	Rate       string
	ToCurrency string
}

func (d ExchangeDraft) check() (e Exchange, err error) {
	wrong := fault.Fields{}
	e = Exchange{Currency: d.Currency, To: d.ToCurrency}
	if d.From == "" {
		wrong.Add("from", "is required")
	} else if e.From, err = beijing.ParseDate("from", d.From); err != nil {
		return Exchange{}, err
	}
	CheckCurrency(wrong, "currency", d.Currency)
	CheckCurrency(wrong, "toCurrency", d.ToCurrency)
	if d.Currency == d.ToCurrency && d.Currency != "" {
		wrong.Add("toCurrency", "must be another currency")
	}
	if e.Rate = amount(wrong, "rate", d.Rate); wrong["rate"] == "" && e.Rate.IsZero() {
		wrong.Add("rate", "must be above 0")
	}
	return e, wrong.Err()
}

// Exchanges gives all that there are, by their currencies, each history newest first.
func (s *Store) Exchanges(ctx context.Context) ([]Exchange, error) {
	found, err := exchanges(ctx, s.pool, `ORDER BY currency, to_currency, from_day DESC`)
	if err != nil {
		return nil, fmt.Errorf("list rates: %w", err)
	}
	return found, nil
}

func exchanges(ctx context.Context, db querier, condition string, args ...any) ([]Exchange, error) {
	rows, err := db.Query(ctx, `SELECT id, currency, to_currency, from_day - date '1970-01-01', rate, created_by, updated_by, created_at, updated_at FROM rates `+condition, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Exchange, err error) {
		err = row.Scan(&e.ID, &e.Currency, &e.To, &e.From, &e.Rate, &e.CreatedBy, &e.UpdatedBy, &e.CreatedAt, &e.UpdatedAt)
		return e, err
	})
}

// PutExchange enters one, or replaces that of the same two currencies and day; actor and seen are as those of Put.
func (s *Store) PutExchange(ctx context.Context, actor string, draft ExchangeDraft, seen ...time.Time) (e Exchange, err error) {
	if e, err = draft.check(); err != nil {
		return Exchange{}, err
	}
	err = s.edit(ctx, func(tx pgx.Tx) error {
		found, err := exchanges(ctx, tx, `WHERE currency = $1 AND to_currency = $2 AND from_day = date '1970-01-01' + $3::integer`, e.Currency, e.To, int32(e.From))
		switch {
		case err != nil:
			return fmt.Errorf("put rate: %w", err)
		case len(found) == 0 && len(seen) > 0:
			return fault.New(fault.NotFound, "the rate that was read is not there any more")
		case len(found) > 0:
			if err := fault.Unchanged(found[0].UpdatedAt, seen...); err != nil {
				e = found[0]
				return err
			}
			if found[0].Rate.Equal(e.Rate) {
				e = found[0]
				return nil
			}
		}
		err = tx.QueryRow(ctx, `
			INSERT INTO rates (id, currency, to_currency, from_day, rate, created_by, updated_by) VALUES ($1, $2, $3, date '1970-01-01' + $4::integer, $5, $6, $6)
			ON CONFLICT (currency, to_currency, from_day) DO UPDATE SET rate = excluded.rate, updated_by = excluded.updated_by, updated_at = clock_timestamp()
			RETURNING id, created_by, updated_by, created_at, updated_at`, uuid.New(), e.Currency, e.To, int32(e.From), e.Rate, actor).
			Scan(&e.ID, &e.CreatedBy, &e.UpdatedBy, &e.CreatedAt, &e.UpdatedAt)
		if err != nil {
			return fmt.Errorf("put rate: %w", err)
		}
		change := audit.Change{Field: "rate", To: e.Rate.String()}
		if len(found) > 0 {
			change.From = found[0].Rate.String()
			return audit.Append(ctx, tx, e.entry(actor, "rate.update", change))
		}
		return audit.Append(ctx, tx, e.entry(actor, "rate.create", change))
	})
	return e, err
}

// DeleteExchange takes one away; the one before it holds then, if any. An unknown one is fault.Absent.
func (s *Store) DeleteExchange(ctx context.Context, actor string, id uuid.UUID) error {
	return s.edit(ctx, func(tx pgx.Tx) error {
		found, err := exchanges(ctx, tx, `WHERE id = $1`, id)
		switch {
		case err != nil:
			return fmt.Errorf("delete rate: %w", err)
		case len(found) == 0:
			return fault.Absent()
		}
		if _, err := tx.Exec(ctx, `DELETE FROM rates WHERE id = $1`, id); err != nil {
			return fmt.Errorf("delete rate: %w", err)
		}
		return audit.Append(ctx, tx, found[0].entry(actor, "rate.delete", audit.Change{Field: "rate", From: found[0].Rate.String()}))
	})
}

func (e *Exchange) entry(actor, action string, change audit.Change) audit.Entry {
	return audit.Entry{Actor: actor, Action: action, TargetType: "rate", TargetID: e.ID.String(),
		TargetName: e.Currency + " " + e.To + " " + e.From.String(), Changes: audit.Changes{change}}
}

// rateExponent is the unit of rates, and totalExponent that of what amounts become by them.
const (
	rateExponent  = -12
	totalExponent = amountExponent + rateExponent
)

// dated is a rate as totals are made of it.
type dated struct {
	from  beijing.Day
	units *big.Int // 1e-12
}

// exchange takes rates into the book: how each of its currencies becomes each one that rates lead to.
func (b *Book) exchange(all []Exchange) {
	for _, e := range all {
		b.targets = append(b.targets, e.To)
	}
	slices.Sort(b.targets)
	b.targets = slices.Compact(b.targets)
	b.rates = make([][]dated, len(b.currencies)*len(b.targets))
	for at := range b.rates {
		from, to := b.currencies[at/len(b.targets)], b.targets[at%len(b.targets)]
		for _, e := range all {
			if e.Currency == from && e.To == to {
				b.rates[at] = append(b.rates[at], dated{e.From, e.Rate.Shift(-rateExponent).BigInt()})
			}
		}
		if from == to {
			b.rates[at] = []dated{{0, decimal.New(1, -rateExponent).BigInt()}}
		}
		slices.SortStableFunc(b.rates[at], func(a, b dated) int { return int(a.from - b.from) })
	}
}

// in gives what an amount of a day is in each currency that rates lead to, nil where it is not known.
func (b *Book) in(currency int, day beijing.Day, amount *big.Int) (totals []*big.Int) {
	for target := range b.targets {
		history := b.rates[currency*len(b.targets)+target]
		var total *big.Int
		if n := sort.Search(len(history), func(i int) bool { return history[i].from > day }); n > 0 {
			total = new(big.Int).Mul(amount, history[n-1].units)
		}
		totals = append(totals, total)
	}
	return totals
}

// Total is what a sum costs in one currency altogether.
type Total struct {
	Currency string
	Amount   decimal.Decimal // exact, with at most thirty decimals; of no meaning where something is missing
	Missing  []string        // currencies of which something was charged on a day on which no rate held
}

// total is what was charged in one currency, in another.
type total struct {
	amount big.Int
	// What there was no rate for.
	calls int64
	left  big.Int
}

// Totals are what the sum costs in each currency that rates lead to. Where nothing has a price there is none, for there is no
// sum.
func (s *Sum) Totals() (all []Total) {
	costs := s.Costs()
	if len(costs) == 0 || costs[0].Currency == "" {
		return nil
	}
	for target, code := range s.book.targets {
		of := Total{Currency: code}
		var sum big.Int
		for currency := range s.parts {
			t := &s.parts[currency].totals[target]
			if t.calls != 0 || t.left.Sign() != 0 {
				of.Missing = append(of.Missing, s.book.currencies[currency])
			}
			sum.Add(&sum, &t.amount)
		}
		of.Amount = notNegative(&sum, totalExponent)
		all = append(all, of)
	}
	return all
}

// Exchange gives how much of another currency one unit of a currency is on a Beijing day; false: it is not known.
func (b *Book) Exchange(currency, to string, day beijing.Day) (decimal.Decimal, bool) {
	from, known := slices.BinarySearch(b.currencies, currency)
	target, leads := slices.BinarySearch(b.targets, to)
	if !known || !leads {
		return decimal.Zero, false
	}
	one := b.in(from, day, big.NewInt(1))[target]
	if one == nil {
		return decimal.Zero, false
	}
	return decimal.NewFromBigInt(one, rateExponent), true
}

// Targets are the currencies that rates lead to, in order.
func (b *Book) Targets() []string { return b.targets }

// begin tells the days on which rates begin.
func (b *Book) begin() (days []beijing.Day) {
	for _, history := range b.rates {
		for _, d := range history {
			days = append(days, d.from)
		}
	}
	return days
}
