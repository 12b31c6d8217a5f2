package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

const lastUsesQuery = `
SELECT key_id, toUnixTimestamp64Milli(max(k.last_used)) FROM app_keys AS k WHERE application_id = {application:UUID} GROUP BY key_id`

// LastUses tells when each key of an application was used last: Beijing time, RFC 3339 with milliseconds, by key id.
// Keys that were never used are not in it. Faults: Unavailable.
func (r *Reader) LastUses(ctx context.Context, application uuid.UUID) (map[uuid.UUID]string, error) {
	uses := map[uuid.UUID]string{}
	err := r.each(ctx, "last uses of keys", lastUsesQuery, args("application", application), func(rows driver.Rows) error {
		var key uuid.UUID
		var at int64
		if err := rows.Scan(&key, &at); err != nil {
			return unavailable(err, "read last uses of keys")
		}
		uses[key] = beijing.Format(time.UnixMilli(at))
		return nil
	})
	return uses, err
}
