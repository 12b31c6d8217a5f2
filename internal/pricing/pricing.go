// Package pricing is the price book that administrators keep, and what counted tokens cost by it.
// Cost is an estimate, no bill. It is computed when it is asked for, from that day's tokens and
// that day's price, in decimals that are never rounded: a corrected price reprices its days at once.
//
// The hard decision is to price in integers: rates are whole ten-thousandths, so what a row of tokens costs is a sum of
// products that 128 bits hold, computed once for all the sums that the row is in, and no sum depends on the order
// of its parts.
package pricing

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
)

// AnyModel as a price's upstream model means every model that has no price of its own.
const AnyModel = ""

// Price is what a million tokens of a capability cost from a Beijing day on, until the next price of the
// same capability and upstream model.
type Price struct {
	ID            uuid.UUID
	CapabilityID  string
	UpstreamModel string // as the upstream names it, or AnyModel
	From          beijing.Day
	Currency      string // ISO 4217, as entered
	Rates
	CreatedBy string // e-mail addresses
	UpdatedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Rates are the parts of a price: units of the currency for a million tokens, at least 0 and below 10^9, four decimals.
type Rates struct {
	Input      decimal.Decimal
	Cached     *decimal.Decimal // nil: as Input
	CacheWrite *decimal.Decimal // nil: as Input
	Output     decimal.Decimal
}

// Store keeps the price book in PostgreSQL.
type Store struct {
	pool *pgxpool.Pool
	held holder
}

// New returns a store on pool.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }
