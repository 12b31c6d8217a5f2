-- Tokens are remembered as long by tables of a cluster, and of ClickHouse Cloud, as by those of one server: there
-- it is Keeper that remembers. On a single server these settings mean nothing.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE call_failures MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE usage_daily MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE usage_hourly MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE app_models MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;
-- +goose StatementEnd

-- +goose Down
-- The settings hurt nobody.
SELECT 1;
