-- What callers say of a call, to find it by and to sum by: tags, and whom it was made for.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls
    ADD COLUMN IF NOT EXISTS `tags.name` Array(LowCardinality(String)) COMMENT 'Names of the tags that the caller gave the call, in order; at most five' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS `tags.value` Array(String) COMMENT 'Value of each' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS end_user String COMMENT 'Whom the caller named as its user, as it was sent or a keyed hash of it; empty for nobody' CODEC(ZSTD(1)),
    ADD INDEX IF NOT EXISTS tags `tags.value` TYPE bloom_filter(0.001) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS end_user end_user TYPE bloom_filter(0.001) GRANULARITY 1;
-- +goose StatementEnd

-- +goose Down
-- The columns hurt nobody.
SELECT 1;
