package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/spool"
)

const (
	// maxUpstreamModels bounds the names that models of a capability go by on one Beijing day, a shard: an answer
	// can name what it likes, and many repeat what the caller wrote.
	maxUpstreamModels = 50
	// maxModelsBy is how many of them one application brings in, so that it takes none from others.
	maxModelsBy = 10
	// otherModel stands for the rest.
	otherModel = "other"
	// keptModels is how many days of capabilities are remembered before those of earlier days are forgotten.
	keptModels = 4096
)

// upstreamModels are the names that count on a day, by capability.
type upstreamModels map[modelDay]*modelNames

type modelDay struct {
	day        beijing.Day
	capability string
}

type modelNames struct {
	known map[string]struct{}
	by    map[uuid.UUID]int // names an application brought in
}

// boundModels makes the names of a batch such that a day keeps few. A name that is not known yet is looked for
// among those that other gateways have brought in.
func (s *lane) boundModels(ctx context.Context, b *batch) error {
	var unknown []string
	var last *spool.Row // whose name is known: rows of one kind come one after the other
	for i := range b.rows {
		r := &b.rows[i]
		switch {
		case r.Usage.Model == "" || last != nil && r.Usage.Model == last.Usage.Model && r.Model == last.Model:
		case s.models.has(b.day, r.Model, r.Usage.Model):
			last = r
		case !slices.Contains(unknown, r.Model):
			unknown = append(unknown, strings.Clone(r.Model))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	if err := s.learnModels(ctx, b.day, unknown); err != nil {
		return err
	}
	for i := range b.rows {
		r := &b.rows[i]
		if r.Usage.Model != "" && !s.models.admit(b.day, r.Model, r.Usage.Model, r.Application) {
			r.Usage.Model = otherModel
		}
	}
	return nil
}

// learnModels reads the names of capabilities on a day. Of one that has as many as may be there is nothing to learn.
func (s *lane) learnModels(ctx context.Context, day beijing.Day, capabilities []string) error {
	s.models.forget(day)
	capabilities = slices.DeleteFunc(capabilities, func(id string) bool { return len(s.models.of(day, id).known) >= maxUpstreamModels })
	if len(capabilities) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, insertTimeout)
	defer cancel()
	rows, err := s.shard.conn().Query(ctx, `SELECT DISTINCT toString(model), toString(upstream_model) FROM tokens_daily
		WHERE day = {day:Date} AND model IN {capabilities:Array(String)} AND upstream_model NOT IN ('', {other:String})`,
		clickhouse.Named("day", day.String()), clickhouse.Named("capabilities", capabilities), clickhouse.Named("other", otherModel))
	if err != nil {
		return fmt.Errorf("models of %s: %w", day, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var capability, name string
		if err := rows.Scan(&capability, &name); err != nil {
			return fmt.Errorf("models of %s: %w", day, err)
		}
		s.models.of(day, capability).known[name] = struct{}{}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("models of %s: %w", day, err)
	}
	return nil
}

func (m upstreamModels) of(day beijing.Day, capability string) *modelNames {
	key := modelDay{day, capability}
	if m[key] == nil {
		m[modelDay{day, strings.Clone(capability)}] = &modelNames{map[string]struct{}{}, map[uuid.UUID]int{}}
	}
	return m[key]
}

func (m upstreamModels) has(day beijing.Day, capability, name string) bool {
	if names := m[modelDay{day, capability}]; names != nil {
		_, known := names.known[name]
		return known
	}
	return false
}

// admit tells whether a name counts, and from now on does.
func (m upstreamModels) admit(day beijing.Day, capability, name string, by uuid.UUID) bool {
	names := m.of(day, capability)
	if _, known := names.known[name]; known {
		return true
	}
	if len(names.known) >= maxUpstreamModels || names.by[by] >= maxModelsBy {
		return false
	}
	names.known[strings.Clone(name)] = struct{}{}
	names.by[by]++
	return true
}

// forget makes room when much is remembered: for days but today's, names are read again.
func (m upstreamModels) forget(today beijing.Day) {
	if len(m) < keptModels {
		return
	}
	for key := range m {
		if key.day != today {
			delete(m, key)
		}
	}
}
