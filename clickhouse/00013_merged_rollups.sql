-- What is an hour old of a rollup is merged into one part: an answer about fifty applications reads fifty ranges
-- of every column of every part, and that is most of what it costs (ten parts: three times as much as one). The
-- tables are small beside calls, so writing them again costs little.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE usage_daily MODIFY SETTING min_age_to_force_merge_seconds = 3600;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE tokens_daily MODIFY SETTING min_age_to_force_merge_seconds = 3600;
-- +goose StatementEnd

-- +goose Down
-- The settings hurt nobody.
SELECT 1;
