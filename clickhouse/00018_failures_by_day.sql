-- Failures in the order of days, for administrators: without it a month of everyone is as long to read as a year. A projection
-- is part of its rollup and agrees with it at every moment. Rows of before are filled in the background; until then the
-- others are read.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE failures_daily MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild', lightweight_mutation_projection_mode = 'rebuild';
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE failures_daily ADD PROJECTION IF NOT EXISTS of_days
    (SELECT * ORDER BY day, model, reason_type, reason_code, upstream_status, application_id);
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE failures_daily MATERIALIZE PROJECTION of_days SETTINGS mutations_sync = 0;
-- +goose StatementEnd

-- +goose Down
-- The projection hurts nobody.
SELECT 1;
