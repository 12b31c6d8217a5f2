package verify

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// keyLabel names a figure of the rollup by keys.
type keyLabel struct {
	key                   uuid.UUID
	day                   beijing.Day
	model, upstream, tier string
	band                  uint32
	meter                 string
}

func (l keyLabel) String() string {
	where := fmt.Sprintf("keys_daily %s %s of %q", l.day, l.key, l.model)
	if l.upstream != "" || l.tier != "" || l.band != 0 {
		where += fmt.Sprintf(" used of %q %q %d", l.upstream, l.tier, l.band)
	}
	return where
}

var keyRowsQuery = `
WITH usage_state != '' AND usage_state != 'none' AS is_reported
SELECT key_id, toInt32(intDiv(toUnixTimestamp64Milli(start_time) + 8 * 3600000, 24 * 3600000)) AS day, toString(model) AS of_model, toString(upstream_model) AS of_upstream,
    toInt64(count()), toInt64(countIf(success = 0)),` + reportedOfRows + `
FROM calls
WHERE application_id = {application:UUID} AND ` + between + ` AND toString(key_id) != '00000000-0000-0000-0000-000000000000'
GROUP BY key_id, day, of_model, of_upstream` + usedGroups

const keptOfKeysQuery = `
SELECT key_id, toInt32(day), toString(model), toString(upstream_model), toString(tier), band, toString(meter), sum(k.amount)
FROM keys_daily AS k
WHERE application_id = {application:UUID} AND k.day >= toDate(toDateTime({from:Int64}, 'Asia/Shanghai')) AND k.day < toDate(toDateTime({to:Int64}, 'Asia/Shanghai'))
GROUP BY ALL`

// compareKeys compares the rollup by keys of an application, figure by figure, with its rows. Days that are yet to be filled are
// left out.
func (v *verifier) compareKeys(ctx context.Context, found *findings, where string, id uuid.UUID, days beijing.Range) error {
	if days = v.Stats.KeptCalls(days); days.Days() < 1 {
		return nil
	}
	counted, err := v.keyRows(ctx, id, days)
	if err != nil {
		return err
	}
	kept := map[keyLabel]int64{}
	err = v.Stats.Stream(ctx, "figures of keys", keptOfKeysQuery, ofDays(id, days), func(scan func(...any) error) error {
		var of keyLabel
		var day int32
		var n int64
		if err := scan(&of.key, &day, &of.model, &of.upstream, &of.tier, &of.band, &of.meter, &n); err != nil {
			return err
		}
		of.day = beijing.Day(day)
		kept[of] = n
		if _, is := counted[of]; !is {
			counted[of] = 0
		}
		return nil
	})
	if err != nil {
		return err
	}
	var rebuilding map[beijing.Day]bool
	for of, n := range counted {
		if kept[of] == n {
			continue
		}
		if rebuilding == nil {
			if rebuilding, err = v.Days.Rebuilding(ctx, days); err != nil {
				return err
			}
		}
		if rebuilding[of.day] {
			v.say("keys of %s: they are to be filled or repaired; not compared", of.day)
			continue
		}
		found.differ(where+" "+of.String(), "%s: %d is kept, the rows give %d", of.meter, kept[of], n)
	}
	return nil
}

func ofDays(application uuid.UUID, days beijing.Range) []any {
	return []any{"application", application, "from", days.Start.Start().Unix(), "to", days.End.End().Unix()}
}

// keyRows counts what the keys of an application did and used. It reads every row of the range. Faults: Unavailable.
func (v *verifier) keyRows(ctx context.Context, application uuid.UUID, days beijing.Range) (map[keyLabel]int64, error) {
	counted := map[keyLabel]int64{}
	err := v.Stats.Stream(ctx, "recount keys", keyRowsQuery, ofDays(application, days), func(scan func(...any) error) error {
		var key uuid.UUID
		var day int32
		var calls, failed int64
		var row tokenRow
		if err := scan(append([]any{&key, &day, &row.Model, &row.UpstreamModel, &calls, &failed}, row.reportedFields()...)...); err != nil {
			return err
		}
		add := func(of keyLabel, meter string, n int64) {
			of.key, of.day, of.model, of.meter = key, beijing.Day(day), row.Model, meter
			counted[of] += n
		}
		add(keyLabel{}, "total", calls)
		add(keyLabel{}, "failed", failed)
		for _, line := range row.lines() {
			of, calls := keyLabel{upstream: line.model, tier: line.tier, band: line.band}, "calls_beside"
			if line.first {
				calls = "calls"
			}
			add(of, calls, line.calls)
			for meter, n := range line.meters {
				add(of, meter, n.IntPart())
			}
		}
		return nil
	})
	return counted, err
}
