// Package pricing is the price book that administrators keep, and what was used costs by it.
// Cost is an estimate, no bill. It is computed when it is asked for, from what was used on a day and that day's price,
// in decimals that are never rounded: a corrected price reprices its days at once.
//
// Of the prices that have begun by a call's day that one holds which is of the upstream model itself rather than of any,
// then of the service tier itself rather than of any, then of the largest band that the call's input reaches, then the
// newest. It holds as a whole: what it leaves out is not looked up in another one.
//
// A meter that is part of another and has no amount of its own costs what the whole costs: cache_write_1h what
// cache_write does, and that what input does. Of a whole only what is in none of its parts with amounts of their own
// costs the whole's amount. Whoever reads answers sees to it that parts are within their wholes and do not overlap.
// Cost is therefore linear in what was used: a sum costs exactly what its calls cost together.
//
// What is no part of tokens, such as searches, pages or seconds, costs nothing where none of it was used. Calls that used
// some of it and have no amount for it are unpriced: what they cost is not known, which is not 0, and they are counted.
// In a row of several calls that is so of all of them, so calls that used such a meter and calls that did not are summed
// up in rows of their own.
//
// The hard decision is to price in integers: amounts per unit are whole 1e-18ths, so what a row costs is a sum of products of
// integers, computed once for all the sums that the row is in, and no sum depends on the order of its parts.
package pricing

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/meter"
)

// AnyModel as a price's upstream model means every model that has no price of its own.
const AnyModel = ""

// AnyTier as a price's service tier means every tier that has no price of its own.
const AnyTier = ""

// Price is what the use of a capability costs from a Beijing day on, until the next price of the same capability,
// upstream model, tier and band.
type Price struct {
	ID            uuid.UUID
	CapabilityID  string
	UpstreamModel string // as the upstream names it, or AnyModel
	Tier          string // as the upstream names it, or AnyTier
	FromBand      int64  // for calls of more input tokens; 0: for all
	From          beijing.Day
	Currency      string // ISO 4217, as entered
	Rates
	CreatedBy string // e-mail addresses
	UpdatedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Rates are the amounts of a price: units of the currency, at least 0 and below 10^9, with at most twelve decimals, for a
// million tokens or characters, a thousand searches or calls of tools, an image, a page or a second.
type Rates struct {
	Input      decimal.Decimal
	Cached     *decimal.Decimal // nil: as Input
	CacheWrite *decimal.Decimal // nil: as Input
	Output     decimal.Decimal
	Amounts    map[meter.Meter]decimal.Decimal // of meters besides these four
}

// amount is what the price itself has for a meter.
func (r *Rates) amount(m meter.Meter) (decimal.Decimal, bool) {
	var optional *decimal.Decimal
	switch m {
	case meter.Input:
		return r.Input, true
	case meter.Output:
		return r.Output, true
	case meter.CachedInput:
		optional = r.Cached
	case meter.CacheWrite:
		optional = r.CacheWrite
	default:
		amount, has := r.Amounts[m]
		return amount, has
	}
	if optional == nil {
		return decimal.Zero, false
	}
	return *optional, true
}

// Store keeps the price book in PostgreSQL.
type Store struct {
	pool *pgxpool.Pool
	held holder
}

// New returns a store on pool.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }
