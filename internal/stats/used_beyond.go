package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// CallsOf says whose calls are meant: those of applications, of some of their keys alone, or of a capability.
type CallsOf struct {
	Applications []uuid.UUID
	Keys         []uuid.UUID // nil: any
	Capability   string      // empty: any; else Applications may be nil, which is any, too
}

// Spool is one whose calls are left out that began at an instant or later; the batches of its segments begin so.
type Spool struct {
	Batches string
	Since   time.Time
}

// alikeColumns are what scanUsed reads: what calls used that look alike, which alikeGroups tell apart.
const (
	alikeColumns = `toInt32(toDate(start_time)) AS day, toString(model), toString(upstream_model) AS of_model,
    CAST(used.model, 'Array(String)') AS models, CAST(used.tier, 'Array(String)') AS tiers, used.band AS bands, CAST(used.meter, 'Array(String)') AS meters,
    CAST(sumForEach(used.amount), 'Array(Int64)'), toInt64(count()), toInt64(countIf(isNotNull(input_tokens) OR isNotNull(output_tokens))),
    toInt64(sum(ifNull(input_tokens, 0))), toInt64(sum(ifNull(cached_tokens, 0))), toInt64(sum(ifNull(cache_write_tokens, 0))),
    toInt64(sum(ifNull(output_tokens, 0))), toInt64(sum(ifNull(reasoning_tokens, 0)))`
	alikeGroups = `day, model, of_model, models, tiers, bands, meters`
)

// usedBeyondQuery reads the batches first: of most calls nothing else is read.
var usedBeyondQuery = `
SELECT ` + alikeColumns + `
FROM calls
PREWHERE ` + since("from") + ` AND ` + before("to") + `
    AND NOT arrayExists((batches, since) -> startsWith(batch_id, batches) AND toUnixTimestamp64Milli(start_time) >= since, {batches:Array(String)}, {since:Array(Int64)})
WHERE (empty({applications:Array(UUID)}) OR application_id IN {applications:Array(UUID)})
    AND (empty({keys:Array(UUID)}) OR key_id IN {keys:Array(UUID)})
    AND ({model:String} = '' OR model = {model:String})
    AND usage_state NOT IN ('', 'none')
GROUP BY ` + alikeGroups

// UsedBeyond gives what the calls of a range of days used that are not of some spools, from the calls themselves. Rows are as those
// of DayTokens, in no order. Faults: Unavailable.
func (r *Reader) UsedBeyond(ctx context.Context, of CallsOf, days beijing.Range, without []Spool, take func(*ModelTokens)) error {
	if len(of.Applications) == 0 && of.Capability == "" {
		return nil
	}
	batches, since := make([]string, len(without)), make([]int64, len(without))
	for i, s := range without {
		batches[i], since[i] = s.Batches, s.Since.UnixMilli()
	}
	parameters := args("applications", of.Applications, "keys", of.Keys, "model", of.Capability, "batches", batches, "since", since,
		"from", days.Start.Start().Unix(), "to", days.End.End().Unix())
	return r.each(ctx, "usage beyond spools", usedBeyondQuery, parameters, func(rows driver.Rows) error { return scanUsed(rows, take) })
}

// scanUsed reads what stands before alikeColumns, and these.
func scanUsed(rows driver.Rows, take func(*ModelTokens), before ...any) error {
	var day int32
	var m ModelTokens
	var models, tiers, meters []string
	var bands []uint32
	var amounts []int64
	var calls int64
	err := rows.Scan(append(before, &day, &m.Model, &m.UpstreamModel, &models, &tiers, &bands, &meters, &amounts, &calls, &m.Calls,
		&m.Input.N, &m.Cached.N, &m.CacheWrite.N, &m.Output.N, &m.Reasoning.N)...)
	if err != nil {
		return unavailable(err, "read usage of calls")
	}
	m.Day = beijing.Day(day)
	if len(meters) == 0 {
		take(&m)
		return nil
	}
	of := ModelTokens{Day: m.Day, Model: m.Model}
	for i := range meters {
		if i == 0 || models[i] != models[i-1] || tiers[i] != tiers[i-1] || bands[i] != bands[i-1] {
			if i > 0 {
				take(&of)
			}
			of.UpstreamModel, of.Metered = models[i], Metered{Tier: tiers[i], Band: int64(bands[i]), Meters: map[string]int64{}}
			if of.Calls, of.Beside = calls, 0; i > 0 {
				of.Calls, of.Beside = 0, calls
			}
		}
		of.Meters[meters[i]] += amounts[i]
	}
	take(&of)
	return nil
}
