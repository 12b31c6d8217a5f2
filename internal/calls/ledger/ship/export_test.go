package ship

import (
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/spool"
)

const (
	MaxUpstreamModels = maxUpstreamModels
	OtherModel        = otherModel
	DedupWindow       = dedupWindow
)

// StartTo starts to ship to servers that a test has prepared, and takes a token for remembered for so long.
func StartTo(to *shards.Servers, remembered time.Duration, from *spool.Spool, pool *pgxpool.Pool, log *slog.Logger) *Shipper {
	s := newShipper(Config{Retain: time.Minute}, from, to, pool, log)
	s.dedupWindow = remembered
	s.start()
	return s
}
