package stats

import (
	"context"
	"iter"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

var rowsQuery = `
SELECT` + callColumns + `
FROM calls
WHERE application_id = {application:UUID} AND ` + since("from") + ` AND ` + before("to") + `
ORDER BY start_time DESC, call_id DESC`

// Rows yields every call of an application on some days, newest day first, in the order of Calls,
// straight from the table: no count decides where to look. Of a failed call it has the reason,
// without its message. An error ends it. Faults: Unavailable.
func (r *Reader) Rows(ctx context.Context, application uuid.UUID, days []beijing.Day) iter.Seq2[FailedCall, error] {
	return func(yield func(FailedCall, error) bool) {
		for _, day := range days { // a sort of a day at a time
			parameters := args("application", application, "from", day.Start().Unix(), "to", day.End().Unix())
			stopped := false
			err := r.stream(ctx, r.conn, "rows", rowsQuery, parameters, func(rows driver.Rows) error {
				call, err := scanFailedCall(rows)
				if err != nil {
					return err
				}
				if !yield(*call, nil) {
					stopped = true
					return context.Canceled
				}
				return nil
			})
			if stopped {
				return
			}
			if err != nil {
				yield(FailedCall{}, err)
				return
			}
		}
	}
}
