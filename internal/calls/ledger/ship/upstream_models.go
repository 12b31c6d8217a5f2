package ship

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
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/spool"
)

const (
	// maxUpstreamModels bounds the names without a price that models of a capability go by for one owner on one Beijing
	// day, a shard: an answer can name what it likes, and many repeat what the caller wrote. A name in the price book
	// always counts, or else its tokens would be charged at the price of another. Gateways that write new names at the
	// same moment do not know of each other's: for that moment the bound is one for each.
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
func (w *worker) boundModels(ctx context.Context, b *batch) error {
	unknown := w.unknownModels(b)
	if len(unknown) == 0 {
		return nil
	}
	w.models.forget(b.day)
	ctx, cancel := context.WithTimeout(ctx, shards.InsertTimeout)
	defer cancel()
	if err := w.learnModels(ctx, b, unknown); err != nil {
		return fmt.Errorf("models of %s: %w", b.day, err)
	}
	unknown = slices.DeleteFunc(unknown, func(capability string) bool { return !w.models.of(b.day, capability).many })
	if len(unknown) == 0 {
		return nil
	}
	if err := w.decideModels(ctx, b, unknown); err != nil {
		return fmt.Errorf("models of %s: %w", b.day, err)
	}
	return nil
}

// unknownModels are the capabilities for which a batch has a name that is not known to count.
func (w *worker) unknownModels(b *batch) (capabilities []string) {
	var last *spool.Row // whose name is known: rows of one kind come one after the other
	for i := range b.rows {
		r := &b.rows[i]
		if len(r.Lines) == 0 && last != nil && r.Usage.Model == last.Usage.Model && r.Model == last.Model && r.Application == last.Application {
			continue
		}
		known := true
		eachName(r, func(name string, _ *string) { known = known && w.models.has(b.day, r, name) })
		if known {
			last = r
		} else if !slices.Contains(capabilities, r.Model) {
			capabilities = append(capabilities, strings.Clone(r.Model))
		}
	}
	return capabilities
}

// ofTier stands before the name of a tier of service, which is bounded as those of models are, and together with them.
const ofTier = "\x00"

// eachName gives the names of a row that must count or become another, and where each stands.
func eachName(r *spool.Row, take func(name string, at *string)) {
	if bounded(r.Usage.Model) {
		take(r.Usage.Model, &r.Usage.Model)
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		if bounded(l.Model) {
			take(l.Model, &l.Model)
		}
		if bounded(l.Tier) {
			take(ofTier+l.Tier, &l.Tier)
		}
	}
}

// learnModels takes the names of capabilities on a day as few, with those of the batch, or finds that they are many.
func (w *worker) learnModels(ctx context.Context, b *batch, capabilities []string) error {
	all := map[string]map[string]struct{}{}
	for _, capability := range capabilities {
		if names := w.models.of(b.day, capability); !names.many {
			all[capability] = names.few
		}
	}
	if len(all) == 0 {
		return nil
	}
	more := strconv.Itoa(maxUpstreamModels + 1)
	err := w.eachModel(ctx, `SELECT any(application_id), capability, name FROM (`+namesOfDay+`) GROUP BY capability, name LIMIT `+more+` BY capability`, b.day, capabilities, nil, func(_ uuid.UUID, capability, name string) {
		if all[capability] != nil {
			all[capability][name] = struct{}{}
		}
	})
	if err != nil {
		return err
	}
	for i := range b.rows {
		if of := all[b.rows[i].Model]; of != nil {
			eachName(&b.rows[i], func(name string, _ *string) {
				if _, known := of[name]; !known {
					of[strings.Clone(name)] = struct{}{}
				}
			})
		}
	}
	for capability, few := range all {
		if len(few) > maxUpstreamModels {
			names := w.models.of(b.day, capability)
			names.few, names.many, names.counts = nil, true, map[named]struct{}{}
		}
	}
	return nil
}

// decideModels decides the names of capabilities that have many: those with a price count, and as many others of an owner
// as may be.
func (w *worker) decideModels(ctx context.Context, b *batch, capabilities []string) error {
	asking, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	if err := w.learnPriced(asking, b.day, capabilities); err != nil {
		return err
	}
	undecided := func(take func(r *spool.Row, name string, at *string)) {
		for i := range b.rows {
			if r := &b.rows[i]; slices.Contains(capabilities, r.Model) {
				eachName(r, func(name string, at *string) {
					if !w.models.has(b.day, r, name) {
						take(r, name, at)
					}
				})
			}
		}
	}
	owners := map[uuid.UUID]uuid.UUID{} // of applications
	undecided(func(r *spool.Row, _ string, _ *string) {
		owners[r.Application] = r.Application // one that nobody knows is on its own
	})
	if len(owners) == 0 {
		return nil
	}
	if err := w.findOwners(asking, owners); err != nil {
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
		if !w.models.of(b.day, capability).has(uuid.Nil, name) {
			shareOf(application, capability)[name] = struct{}{}
		}
	}
	for _, capability := range capabilities { // what is not stored yet
		for n := range w.models.of(b.day, capability).counts {
			if _, concerned := owners[n.application]; concerned {
				use(n.application, capability, n.name)
			}
		}
	}
	applications := make([]string, 0, len(owners))
	for application := range owners {
		applications = append(applications, application.String())
	}
	err := w.eachModel(ctx, `SELECT DISTINCT application_id, capability, name FROM (`+namesOfDay+`) WHERE application_id IN {applications:Array(UUID)}`,
		b.day, capabilities, applications, use)
	if err != nil {
		return err
	}
	undecided(func(r *spool.Row, name string, at *string) {
		share := shareOf(r.Application, r.Model)
		if _, known := share[name]; !known && len(share) >= maxUpstreamModels {
			*at = otherModel
			return
		}
		name = strings.Clone(name)
		share[name] = struct{}{}
		w.models.of(b.day, r.Model).counts[named{r.Application, name}] = struct{}{}
	})
	return nil
}

// learnPriced reads the names of capabilities, of models and of tiers, that the price book has, of whatever day.
func (w *worker) learnPriced(ctx context.Context, day beijing.Day, capabilities []string) error {
	rows, err := w.reporter.pool.Query(ctx, `SELECT DISTINCT capability_id, upstream_model, tier FROM every_price WHERE capability_id = ANY($1)`, capabilities)
	if err != nil {
		return err
	}
	var capability, model, tier string
	_, err = pgx.ForEachRow(rows, []any{&capability, &model, &tier}, func() error {
		counts := w.models.of(day, capability).counts
		if model != "" {
			counts[named{uuid.Nil, model}] = struct{}{}
		}
		if tier != "" {
			counts[named{uuid.Nil, ofTier + tier}] = struct{}{}
		}
		return nil
	})
	return err
}

// findOwners adds all applications of the owners of applications, deleted ones too.
func (w *worker) findOwners(ctx context.Context, owners map[uuid.UUID]uuid.UUID) error {
	rows, err := w.reporter.pool.Query(ctx, `WITH every AS (SELECT id, owner_id FROM applications UNION SELECT id, owner_id FROM deleted_applications)
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

const ofModels = `day = {day:Date} AND model IN {capabilities:Array(String)}`

// namesOfDay are the names that count on a day, of models and of tiers.
const namesOfDay = `
	SELECT application_id, toString(model) AS capability, toString(upstream_model) AS name FROM tokens_daily WHERE ` + ofModels + ` AND upstream_model NOT IN ('', {other:String})
	UNION ALL
	SELECT application_id, toString(model) AS capability, toString(upstream_model) AS name FROM meters_daily WHERE ` + ofModels + ` AND upstream_model NOT IN ('', {other:String})
	UNION ALL
	SELECT application_id, toString(model) AS capability, concat(char(0), toString(tier)) AS name FROM meters_daily WHERE ` + ofModels + ` AND tier NOT IN ('', {other:String})`

// eachModel reads names that the shard has on a day, of applications if any are asked for.
func (w *worker) eachModel(ctx context.Context, query string, day beijing.Day, capabilities, applications []string, each func(application uuid.UUID, capability, name string)) error {
	parameters := []any{clickhouse.Named("day", day.String()), clickhouse.Named("capabilities", capabilities), clickhouse.Named("other", otherModel)}
	if applications != nil {
		parameters = append(parameters, clickhouse.Named("applications", applications))
	}
	rows, err := w.shard.Conn().Query(ctx, query, parameters...)
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

func (m upstreamModels) has(day beijing.Day, r *spool.Row, name string) bool {
	names := m[modelDay{day, r.Model}]
	return names != nil && names.has(r.Application, name)
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
