-- When a call came into the statistics, so that the pages of a call flow can be those of one instant
-- while calls go on arriving (internal/stats/asof.go). The server's own clock stamps it, one clock for
-- all gateways; rows that say nothing, those of earlier versions among them, have always been there.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls
    ADD COLUMN IF NOT EXISTS stamped Bool COMMENT 'Whether recorded_at is known; false in rows of earlier versions' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS recorded_at DateTime64(3, 'Asia/Shanghai') DEFAULT if(stamped, now64(3, 'Asia/Shanghai'), toDateTime64(0, 3, 'Asia/Shanghai'))
        COMMENT 'When the call was inserted here, Beijing time; 1970 when that is not known' CODEC(Delta(8), ZSTD(1)),
    ADD INDEX IF NOT EXISTS recorded_at recorded_at TYPE minmax GRANULARITY 1;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE calls DROP INDEX IF EXISTS recorded_at, DROP COLUMN IF EXISTS recorded_at, DROP COLUMN IF EXISTS stamped;
