package stats

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

// Everyone is all applications together, as administrators ask for them, but for some. Owners' figures name the
// applications that exist; here those that do not are left out: a company has thousands of the ones and few of the
// others, and what is asked of all without a name is read from projections that know of no application
// (clickhouse/00015), and costs what it costs whatever their number. The sums are the same.
type Everyone struct {
	Except []uuid.UUID // that are deleted, and not swept yet; or unknown
}

// exceptAtOnce bounds the ids of one parameter: a server takes 128 KiB over HTTP.
const exceptAtOnce = 2_000

// condition leaves them out of rows that have applications.
func (e Everyone) condition() (condition string, pairs []any) {
	var text strings.Builder
	for ids := range slices.Chunk(e.Except, exceptAtOnce) {
		name := fmt.Sprintf("except%d", len(pairs)/2)
		text.WriteString(" AND application_id NOT IN {" + name + ":Array(UUID)}")
		pairs = append(pairs, name, ids)
	}
	return text.String(), pairs
}

// twice runs a query of everyone, and then of those to be left out, whose rows are to be taken away again. In this order
// what is swept meanwhile is never taken away twice.
func (e Everyone) twice(ask func(condition string, pairs []any, sign int64) error) error {
	if err := ask("", nil, 1); err != nil {
		return err
	}
	for ids := range slices.Chunk(e.Except, exceptAtOnce) {
		if err := ask(" AND application_id IN {except:Array(UUID)}", []any{"except", ids}, -1); err != nil {
			return err
		}
	}
	return nil
}

// Caller is an application and what it called.
type Caller struct {
	Application     uuid.UUID
	Calls, Failures int64
}

// callersQuery is answered from the projection of_callers of usage_daily, and so is modelCallersQuery.
const callersQuery = `
SELECT u.application_id, sum(u.calls) AS total, sum(u.calls) - sum(u.successes)
FROM usage_daily AS u
WHERE u.day BETWEEN {start:Date} AND {end:Date}`

// Callers gives the applications that have calls in the days, whoever they are: deleted ones until their rows are swept.
// model nil is all. Faults: Unavailable.
func (r *Reader) Callers(ctx context.Context, days beijing.Range, model *string) (callers []Caller, err error) {
	if days = r.KeptStatistics(days); days.Days() < 1 {
		return nil, nil
	}
	query, pairs := callersQuery, []any{"start", days.Start, "end", days.End}
	if model != nil {
		query, pairs = query+" AND "+ofModel, append(pairs, "model", *model)
	}
	err = r.each(fromProjections(ctx), "callers", query+" GROUP BY u.application_id HAVING total != 0", args(pairs...), func(rows driver.Rows) error {
		var c Caller
		if err := rows.Scan(&c.Application, &c.Calls, &c.Failures); err != nil {
			return unavailable(err, "read callers")
		}
		callers = append(callers, c)
		return nil
	})
	return callers, err
}

// ModelCallers are the applications that called a capability, and those whose calls failed.
type ModelCallers struct{ Calling, Failing []uuid.UUID }

const modelCallersQuery = `
SELECT toString(c.model), groupArray(c.application_id), groupArrayIf(c.application_id, c.failed > 0)
FROM (
    SELECT u.model AS model, u.application_id AS application_id, sum(u.calls) AS called, sum(u.calls) - sum(u.successes) AS failed
    FROM usage_daily AS u
    WHERE u.day BETWEEN {start:Date} AND {end:Date}
    GROUP BY u.model, u.application_id
    HAVING called > 0
) AS c
GROUP BY c.model`

// ModelCallers gives them for each capability that was called in the days; as Callers, whoever they are.
// Faults: Unavailable.
func (r *Reader) ModelCallers(ctx context.Context, days beijing.Range) (map[string]ModelCallers, error) {
	found := map[string]ModelCallers{}
	if days = r.KeptStatistics(days); days.Days() < 1 {
		return found, nil
	}
	err := r.each(fromProjections(ctx), "callers of capabilities", modelCallersQuery, args("start", days.Start, "end", days.End), func(rows driver.Rows) error {
		var model string
		var c ModelCallers
		if err := rows.Scan(&model, &c.Calling, &c.Failing); err != nil {
			return unavailable(err, "read callers of capabilities")
		}
		found[model] = c
		return nil
	})
	return found, err
}

// Failing are the failures of one reason.
type Failing struct {
	Reason
	Applications []FailingApplication // one may be there twice
}

// FailingApplication is an application with failures of a reason.
type FailingApplication struct {
	ID              uuid.UUID
	Failures        int64
	FirstMs, LastMs int64 // Unix milliseconds in which the first and the last of these calls started
}

// failedPerModel is answered from the projection of_models of usage_daily.
const failedPerModel = `
    SELECT u.day AS day, u.model AS model, toInt64(sum(u.calls) - sum(u.successes)) AS failed
    FROM usage_daily AS u WHERE u.day BETWEEN {start:Date} AND {end:Date} GROUP BY u.day, u.model` + wholeProjection

// doubtfulQuery is unsureQuery for everyone: by day and capability, so that neither table is read by application.
const doubtfulQuery = `
SELECT DISTINCT toInt32(day)
FROM (
` + failedPerModel + `
    UNION ALL
    SELECT o.day, o.model, toInt64(-sum(o.calls))
    FROM failures_daily AS o WHERE o.day BETWEEN {start:Date} AND {end:Date} GROUP BY o.day, o.model
)
GROUP BY day, model
HAVING sum(failed) != 0`

// Failures tells why calls of everyone failed, as Reasons does it of applications that are named, from the calls where
// the rollup has not all of them. Everyone.Except is not asked for: each row names its application.
// Faults: Unavailable.
func (r *Reader) Failures(ctx context.Context, days beijing.Range, model *string) (failing []Failing, err error) {
	if days = r.KeptStatistics(days); days.Days() < 1 {
		return nil, nil
	}
	pairs := []any{"start", days.Start, "end", days.End}
	rolledUp := func(ctx context.Context, unsure []beijing.Day) (err error) {
		failing, err = r.failing(fromProjections(ctx), everyonesReasons, model, append(slices.Clone(pairs), "unsure", namesOf(unsure)))
		return err
	}
	var unsure []beijing.Day
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		unsure, err = r.daysIn(fromProjections(groupCtx), doubtfulQuery, args(pairs...))
		return err
	})
	group.Go(func() error { return rolledUp(groupCtx, nil) })
	if err := group.Wait(); err != nil || len(unsure) == 0 {
		return failing, err
	}
	if err := rolledUp(ctx, unsure); err != nil {
		return nil, err
	}
	counted, err := r.failing(ctx, everyonesReasonsOfRows, model, []any{"days", numbersOf(unsure)})
	return append(failing, counted...), err
}

// packedApplications are the applications of a reason as one string: there are tens of thousands of them and their reasons,
// and reading a row or an array of each takes the driver longer than all queries of a page.
const packedApplications = `arrayStringConcat(groupArray(concat(reinterpretAsFixedString(application), reinterpretAsFixedString(failures),
    reinterpretAsFixedString(first_ms), reinterpretAsFixedString(last_ms))))`

// packedSize is that of one of them.
const packedSize = 16 + 3*8

// unpacked reads packedApplications: little endian, the halves of the id apart.
func unpacked(packed []byte) []FailingApplication {
	applications := make([]FailingApplication, 0, len(packed)/packedSize)
	for p := range slices.Chunk(packed, packedSize) {
		number := func(at int) uint64 { return binary.LittleEndian.Uint64(p[at:]) }
		a := FailingApplication{Failures: int64(number(16)), FirstMs: int64(number(24)), LastMs: int64(number(32))} //nolint:gosec // are Int64 there
		binary.BigEndian.PutUint64(a.ID[:8], number(0))
		binary.BigEndian.PutUint64(a.ID[8:], number(8))
		applications = append(applications, a)
	}
	return applications
}

// failing runs a query of reasons by application; the parameters are those of its conditions.
func (r *Reader) failing(ctx context.Context, query string, model *string, pairs []any) (found []Failing, err error) {
	if model != nil {
		query, pairs = query+" AND "+ofModel, append(pairs, "model", *model)
	}
	query = `
SELECT kind, cause, answered, capability, ` + packedApplications + `
FROM (` + query + groupedReasons + `
)
GROUP BY kind, cause, answered, capability`
	err = r.each(ctx, "reasons of everyone", query, args(pairs...), func(rows driver.Rows) error {
		var f Failing
		var packed string
		if err := rows.Scan(&f.Type, &f.Code, &f.UpstreamStatus, &f.Model, &packed); err != nil {
			return unavailable(err, "read reasons of everyone")
		}
		f.Applications = unpacked([]byte(packed))
		found = append(found, f)
		return nil
	})
	return found, err
}
