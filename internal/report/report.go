// Package report answers what is asked of statistics, prices, ledger and catalog together, in the types of the contract and
// without HTTP: the console passes its answers on, alerts are evaluated and days are closed by them, and verify holds them
// against the rows of calls. Whose applications may be asked about is decided by who asks.
package report

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/application"
	"callgate/internal/calls/ledger"
	"callgate/internal/catalog"
	"callgate/internal/limits"
	"callgate/internal/pricing"
	"callgate/internal/retention"
	"callgate/internal/stats"
)

// Deps is everything a report is made of.
type Deps struct {
	Applications *application.Store
	Catalog      *catalog.Store
	Pricing      *pricing.Store
	Stats        *stats.Reader
	Ledger       *ledger.Ledger

	// Of the AlertSource only.
	Pool        *pgxpool.Pool // for the ends of keys
	Limits      *limits.Store
	LimitsUsage *limits.Reader // nil: uses of limits cannot be asked

	Retention retention.Days   // zero: retention.Default
	Now       func() time.Time // nil: time.Now
}

// Report is safe for concurrent use. Each method says which operation of openapi.yaml it answers, where the fields are explained.
// A range is one that beijing.ParseRange gives; what is not kept of it is answered as nothing, and Coverage says so. A nil model is
// all of them. Errors of PostgreSQL come as they are; ClickHouse that cannot be asked is the fault Unavailable.
type Report struct{ Deps }

// New returns a report of what d has.
func New(d Deps) *Report {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Retention == (retention.Days{}) {
		d.Retention = retention.Default
	}
	return &Report{d}
}
