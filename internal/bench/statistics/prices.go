package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
)

// pricesQuery makes the capabilities and a price book of them: one any model's price and three that
// change it later, half of the capabilities in another currency, and a price of its own for one model that answers.
var pricesQuery = [...]string{
	`INSERT INTO capability_groups (id, name, sort_order) VALUES ('bench', 'Bench', 1)`,
	`INSERT INTO capabilities (id, name, group_id, description, sort_order, status, upstream_base_url, upstream_key, upstream_auth)
		SELECT 'model-' || n, 'Model ' || n, 'bench', '', n, 'enabled', 'http://127.0.0.1:1', '', 'bearer' FROM generate_series(1, $1::int) n`,
	`INSERT INTO prices (id, capability_id, upstream_model, from_day, currency, input, cached, output, created_by, updated_by)
		SELECT gen_random_uuid(), 'model-' || n, model, $2::date + change * $3::int / 4, CASE n % 2 WHEN 0 THEN 'USD' ELSE 'CNY' END,
			n + change, 0.5, 4 * n + change, 'bench', 'bench'
		FROM generate_series(1, $1::int) n, generate_series(0, 3) change, unnest(ARRAY['', 'upstream-1']) model`,
}

// price writes the capabilities and the price book that costs are counted by.
func (b *bench) price(ctx context.Context, pool *pgxpool.Pool) error {
	from := (b.Today - beijing.Day(b.days) + 1).String()
	for i, arguments := range [][]any{nil, {models}, {models, from, b.days}} {
		if _, err := pool.Exec(ctx, pricesQuery[i], arguments...); err != nil {
			return fmt.Errorf("price book: %w", err)
		}
	}
	return nil
}
