package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/beijing"
	"callgate/internal/calls/spool"
)

const (
	// maxUpstreamModels bounds the names without a price that models of a capability go by for one owner on one Beijing
	// day, a shard: an answer can name what it likes, and many repeat what the caller wrote. A name in the price book
	// always counts, or else its tokens would be charged at the price of another.
	maxUpstreamModels = 50
	// otherModel stands for the rest.
	otherModel = "other"
	// keptModels is how many days of capabilities are remembered before those of other days are forgotten.
	keptModels = 4096
)

// upstreamModels are the names that are known to count on a day, by capability.
type upstreamModels map[modelDay]*modelNames

type modelDay struct {
	day        beijing.Day
	capability string
}

// modelNames are few as a rule, and then count for everybody: nobody can have more of them than all have together. When
// they are more, the owner of the application is asked for.
type modelNames struct {
	few    map[string]struct{} // at most maxUpstreamModels
	many   bool                // there are more; from then on
	counts map[named]struct{}  // is what is known to count
}

// named is a name that an application's answers give. The nil application stands for all, of a name that has a price.
type named struct {
	application uuid.UUID
	name        string
}

func (n *modelNames) has(application uuid.UUID, name string) bool {
	if !n.many {
		_, known := n.few[name]
		return known
	}
	_, known := n.counts[named{application, name}]
	if !known {
		_, known = n.counts[named{uuid.Nil, name}]
	}
	return known
}

// boundModels makes the names of a batch such that a day keeps few. What is decided follows from what the shard and the
// price book have, so that several gateways, and those that start again, agree.
func (s *lane) boundModels(ctx context.Context, b *batch) error {
	unknown := s.unknownModels(b)
	if len(unknown) == 0 {
		return nil
	}
	s.models.forget(b.day)
	ctx, cancel := context.WithTimeout(ctx, insertTimeout)
	defer cancel()
	if err := s.learnModels(ctx, b, unknown); err != nil {
		return fmt.Errorf("models of %s: %w", b.day, err)
	}
	unknown = slices.DeleteFunc(unknown, func(capability string) bool { return !s.models.of(b.day, capability).many })
	if len(unknown) == 0 {
		return nil
	}
	if err := s.decideModels(ctx, b, unknown); err != nil {
		return fmt.Errorf("models of %s: %w", b.day, err)
	}
	return nil
}

// unknownModels are the capabilities for which a batch has a name that is not known to count.
func (s *lane) unknownModels(b *batch) (capabilities []string) {
	var last *spool.Row // whose name is known: rows of one kind come one after the other
	for i := range b.rows {
		r := &b.rows[i]
		switch {
		case !bounded(r.Usage.Model) || last != nil && r.Usage.Model == last.Usage.Model && r.Model == last.Model && r.Application == last.Application:
		case s.models.has(b.day, r):
			last = r
		case !slices.Contains(capabilities, r.Model):
			capabilities = append(capabilities, strings.Clone(r.Model))
		}
	}
	return capabilities
}

// learnModels takes the names of capabilities on a day as few, with those of the batch, or finds that they are many.
func (s *lane) learnModels(ctx context.Context, b *batch, capabilities []string) error {
	all := map[string]map[string]struct{}{}
	for _, capability := range capabilities {
		if names := s.models.of(b.day, capability); !names.many {
			all[capability] = names.few
		}
	}
	if len(all) == 0 {
		return nil
	}
	more := strconv.Itoa(maxUpstreamModels + 1)
	err := s.eachModel(ctx, `SELECT any(application_id), toString(model), toString(upstream_model) FROM tokens_daily
		WHERE `+ofModels+` GROUP BY model, upstream_model LIMIT `+more+` BY model`, b.day, capabilities, nil, func(_ uuid.UUID, capability, name string) {
		if all[capability] != nil {
			all[capability][name] = struct{}{}
		}
	})
	if err != nil {
		return err
	}
	for i := range b.rows {
		if r := &b.rows[i]; bounded(r.Usage.Model) && all[r.Model] != nil {
			if _, known := all[r.Model][r.Usage.Model]; !known {
				all[r.Model][strings.Clone(r.Usage.Model)] = struct{}{}
			}
		}
	}
	for capability, few := range all {
		if len(few) > maxUpstreamModels {
			names := s.models.of(b.day, capability)
			names.few, names.many, names.counts = nil, true, map[named]struct{}{}
		}
	}
	return nil
}

// decideModels settles the names of capabilities that have many: those with a price count, and as many others of an owner
// as may be.
func (s *lane) decideModels(ctx context.Context, b *batch, capabilities []string) error {
	asked, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	if err := s.learnPriced(asked, b.day, capabilities); err != nil {
		return err
	}
	undecided := func(r *spool.Row) bool {
		return slices.Contains(capabilities, r.Model) && bounded(r.Usage.Model) && !s.models.has(b.day, r)
	}
	owners := map[uuid.UUID]uuid.UUID{} // of applications
	for i := range b.rows {
		if r := &b.rows[i]; undecided(r) {
			owners[r.Application] = r.Application // one that nobody knows is on its own
		}
	}
	if len(owners) == 0 {
		return nil
	}
	if err := s.findOwners(asked, owners); err != nil {
		return err
	}
	type share struct {
		capability string
		owner      uuid.UUID
	}
	shares := map[share]map[string]struct{}{} // the names without a price
	shareOf := func(application uuid.UUID, capability string) map[string]struct{} {
		of := share{capability, owners[application]}
		if shares[of] == nil {
			shares[of] = map[string]struct{}{}
		}
		return shares[of]
	}
	use := func(application uuid.UUID, capability, name string) {
		if !s.models.of(b.day, capability).has(uuid.Nil, name) {
			shareOf(application, capability)[name] = struct{}{}
		}
	}
	for _, capability := range capabilities { // what is not stored yet
		for n := range s.models.of(b.day, capability).counts {
			if _, concerned := owners[n.application]; concerned {
				use(n.application, capability, n.name)
			}
		}
	}
	applications := make([]string, 0, len(owners))
	for application := range owners {
		applications = append(applications, application.String())
	}
	err := s.eachModel(ctx, `SELECT DISTINCT application_id, toString(model), toString(upstream_model) FROM tokens_daily
		WHERE application_id IN {applications:Array(UUID)} AND `+ofModels, b.day, capabilities, applications, use)
	if err != nil {
		return err
	}
	for i := range b.rows {
		r := &b.rows[i]
		if !undecided(r) {
			continue
		}
		share, name := shareOf(r.Application, r.Model), strings.Clone(r.Usage.Model)
		if _, known := share[name]; !known && len(share) >= maxUpstreamModels {
			r.Usage.Model = otherModel
			continue
		}
		share[name] = struct{}{}
		s.models.of(b.day, r.Model).counts[named{r.Application, name}] = struct{}{}
	}
	return nil
}

// learnPriced reads the names of capabilities that the price book has, of whatever day.
func (s *lane) learnPriced(ctx context.Context, day beijing.Day, capabilities []string) error {
	rows, err := s.reporter.pool.Query(ctx, `SELECT DISTINCT capability_id, upstream_model FROM every_price WHERE capability_id = ANY($1) AND upstream_model <> ''`, capabilities)
	if err != nil {
		return err
	}
	var capability, name string
	_, err = pgx.ForEachRow(rows, []any{&capability, &name}, func() error {
		s.models.of(day, capability).counts[named{uuid.Nil, name}] = struct{}{}
		return nil
	})
	return err
}

// findOwners adds all applications of the owners of applications, deleted ones too.
func (s *lane) findOwners(ctx context.Context, owners map[uuid.UUID]uuid.UUID) error {
	rows, err := s.reporter.pool.Query(ctx, `WITH every AS (SELECT id, owner_id FROM applications UNION SELECT id, owner_id FROM deleted_applications)
		SELECT id, owner_id FROM every WHERE owner_id IN (SELECT owner_id FROM every WHERE id = ANY($1))`, slices.Collect(maps.Keys(owners)))
	if err != nil {
		return err
	}
	var application, owner uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&application, &owner}, func() error {
		owners[application] = owner
		return nil
	})
	return err
}

const ofModels = `day = {day:Date} AND model IN {capabilities:Array(String)} AND upstream_model NOT IN ('', {other:String})`

// eachModel reads names that the shard has on a day, of applications if any are asked for.
func (s *lane) eachModel(ctx context.Context, query string, day beijing.Day, capabilities, applications []string, each func(application uuid.UUID, capability, name string)) error {
	parameters := []any{clickhouse.Named("day", day.String()), clickhouse.Named("capabilities", capabilities), clickhouse.Named("other", otherModel)}
	if applications != nil {
		parameters = append(parameters, clickhouse.Named("applications", applications))
	}
	rows, err := s.shard.conn().Query(ctx, query, parameters...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var application uuid.UUID
		var capability, name string
		if err := rows.Scan(&application, &capability, &name); err != nil {
			return err
		}
		each(application, capability, name)
	}
	return rows.Err()
}

// bounded tells whether a name is one that must count or become another.
func bounded(name string) bool { return name != "" && name != otherModel }

func (m upstreamModels) of(day beijing.Day, capability string) *modelNames {
	key := modelDay{day, capability}
	if m[key] == nil {
		m[modelDay{day, strings.Clone(capability)}] = &modelNames{few: map[string]struct{}{}}
	}
	return m[key]
}

func (m upstreamModels) has(day beijing.Day, r *spool.Row) bool {
	names := m[modelDay{day, r.Model}]
	return names != nil && names.has(r.Application, r.Usage.Model)
}

// forget makes room where much is remembered: for days but today's, names are read again.
func (m upstreamModels) forget(today beijing.Day) {
	full := len(m) >= keptModels
	for key, names := range m {
		if key.day != today && (full || names.many) {
			delete(m, key)
		}
	}
}
