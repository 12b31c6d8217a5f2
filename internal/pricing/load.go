package pricing

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/meter"
)

// holder keeps the book that was loaded last, with its version.
type holder struct {
	mu      sync.Mutex
	version uuid.UUID
	book    *Book
}

// Book gives the book as it is now: every question asks PostgreSQL for its version, one row, and loads
// prices and rates only when that is another one than before.
func (s *Store) Book(ctx context.Context) (*Book, error) {
	var version uuid.UUID
	if err := s.pool.QueryRow(ctx, `SELECT version FROM price_book`).Scan(&version); err != nil {
		return nil, fmt.Errorf("price book: %w", err)
	}
	if held := s.held.of(version); held != nil {
		return held, nil
	}
	return s.load(ctx)
}

func (h *holder) of(version uuid.UUID) *Book {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.version != version {
		return nil
	}
	return h.book
}

// load reads version and prices of one moment. Of loads that overlap the last to end is held: if its book is
// the older one, the next question finds another version and loads again.
func (s *Store) load(ctx context.Context) (*Book, error) {
	var version uuid.UUID
	var prices []Price
	var rates []Exchange
	var believed []Believed
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, snapshot, func(tx pgx.Tx) (err error) {
		if err = tx.QueryRow(ctx, `SELECT version FROM price_book`).Scan(&version); err != nil {
			return err
		}
		if prices, err = query(ctx, tx, ``); err != nil {
			return err
		}
		if rates, err = exchanges(ctx, tx, ``); err != nil {
			return err
		}
		believed, err = believedIn(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load price book: %w", err)
	}
	book := newBook(prices, rates, believed)
	book.version = version
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	s.held.version, s.held.book = version, book
	return book, nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

const selectPrices = `
	SELECT id, capability_id, upstream_model, tier, from_band, from_day - date '1970-01-01', currency, input, cached, cache_write, output, amounts,
	       created_by, updated_by, created_at, updated_at
	FROM every_price `

// query reads the prices that a condition leaves.
func query(ctx context.Context, db querier, condition string, args ...any) ([]Price, error) {
	rows, err := db.Query(ctx, selectPrices+condition, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Price, err error) {
		var more map[string]decimal.Decimal
		err = row.Scan(&p.ID, &p.CapabilityID, &p.UpstreamModel, &p.Tier, &p.FromBand, &p.From, &p.Currency, &p.Input, &p.Cached, &p.CacheWrite, &p.Output, &more,
			&p.CreatedBy, &p.UpdatedBy, &p.CreatedAt, &p.UpdatedAt)
		p.read(more)
		return p, err
	})
}

// columnDecimals are those of the columns input, cached, cache_write and output.
const columnDecimals = 4

// columns are the four amounts that have columns, each by its meter; nil: it is left out.
func (r *Rates) columns() map[meter.Meter]*decimal.Decimal {
	return map[meter.Meter]*decimal.Decimal{meter.Input: &r.Input, meter.CachedInput: r.Cached, meter.CacheWrite: r.CacheWrite, meter.Output: &r.Output}
}

// read takes in what the column amounts has besides the four that were scanned. Of these it has those that their columns
// cut off, which count while the column is their beginning: the version before writes the columns alone.
func (r *Rates) read(more map[string]decimal.Decimal) {
	r.Amounts = map[meter.Meter]decimal.Decimal{}
	columns := r.columns()
	for name, amount := range more {
		m, known := meter.Named(name)
		column, four := columns[m]
		switch {
		case !known: // a later version's
		case !four:
			r.Amounts[m] = amount
		case column != nil && amount.Truncate(columnDecimals).Equal(*column):
			*column = amount
		}
	}
}

// written is read the other way round: what the columns hold, and the column amounts.
func (r *Rates) written() (input decimal.Decimal, cached, cacheWrite *decimal.Decimal, output decimal.Decimal, more map[string]decimal.Decimal) {
	more = map[string]decimal.Decimal{}
	for m, amount := range r.Amounts {
		more[m.String()] = amount
	}
	cut := map[meter.Meter]*decimal.Decimal{}
	for m, amount := range r.columns() {
		if amount == nil {
			continue
		}
		short := amount.Truncate(columnDecimals)
		if cut[m] = &short; !short.Equal(*amount) {
			more[m.String()] = *amount
		}
	}
	return *cut[meter.Input], cut[meter.CachedInput], cut[meter.CacheWrite], *cut[meter.Output], more
}

// ChangedSince tells whether a price that may hold on a Beijing day was entered, replaced or deleted after an instant.
func (s *Store) ChangedSince(ctx context.Context, at time.Time, day beijing.Day) (changed bool, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM every_price WHERE updated_at > $1 AND from_day <= date '1970-01-01' + $2::integer)
			OR EXISTS (SELECT FROM audit_log WHERE at > $1 AND action = 'price.delete')`, at, int32(day)).Scan(&changed)
	if err != nil {
		return false, fmt.Errorf("changes of prices: %w", err)
	}
	return changed, nil
}
