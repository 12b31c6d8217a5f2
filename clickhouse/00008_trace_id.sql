-- The trace that a call belongs to, where the gateway traces calls (README, "Traces").

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls
    ADD COLUMN IF NOT EXISTS trace_id String COMMENT 'W3C trace id, 32 hexadecimal digits; empty when the call belongs to no trace' CODEC(ZSTD(1)),
    ADD INDEX IF NOT EXISTS trace_id trace_id TYPE bloom_filter(0.001) GRANULARITY 1;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE calls DROP INDEX IF EXISTS trace_id, DROP COLUMN IF EXISTS trace_id;
