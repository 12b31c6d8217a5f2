package access

import (
	"context"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

// Announcer makes changes known at once, after their commit. It only speeds things up: its errors
// are logged, each call takes at most a few hundred milliseconds, and what it fails to say the change
// feed tells within half a second.
type Announcer struct {
	pool *pgxpool.Pool
	link *link
	log  *slog.Logger
}

// NewAnnouncer returns an Announcer for the process that writes applications and capabilities.
func NewAnnouncer(pool *pgxpool.Pool, rdb redis.UniversalClient, log *slog.Logger) *Announcer {
	return &Announcer{pool: pool, link: newLink(rdb), log: log}
}

// ApplicationChanged tells every gateway to read the feed now, and takes the grants of the application's keys
// out of Redis. The entry of a key that was just rotated away or deleted can no longer be named and
// expires by itself; its version is below the floor.
func (a *Announcer) ApplicationChanged(ctx context.Context, id uuid.UUID) {
	a.announce(ctx, a.lookups(ctx, id))
}

// CapabilityChanged tells every gateway to read the feed now.
func (a *Announcer) CapabilityChanged(ctx context.Context, _ string) {
	a.announce(ctx, nil)
}

func (a *Announcer) lookups(ctx context.Context, id uuid.UUID) (lookups [][]byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), redisTimeout)
	defer cancel()
	rows, err := a.pool.Query(ctx, `SELECT lookup FROM application_keys WHERE application_id = $1`, id)
	if err == nil {
		lookups, err = pgx.CollectRows(rows, pgx.RowTo[[]byte])
	}
	if err != nil {
		a.log.WarnContext(ctx, "the cached grants of a changed application cannot be named", "application_id", id, "error", err)
	}
	return lookups
}

func (a *Announcer) announce(ctx context.Context, lookups [][]byte) {
	_, err := onRedis(context.WithoutCancel(ctx), a.link, func(ctx context.Context) (struct{}, error) {
		pipe := a.link.client.Pipeline()
		for _, lookup := range lookups {
			pipe.Del(ctx, grantKey(lookup))
		}
		pipe.Publish(ctx, channel, "changed")
		_, err := pipe.Exec(ctx)
		return struct{}{}, err
	})
	if err != nil {
		a.log.WarnContext(ctx, "a change is not announced; gateways learn of it from the change feed", "error", err)
	}
}
