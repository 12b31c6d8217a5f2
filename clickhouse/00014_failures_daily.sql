-- Failures by day and reason. A success is in none of its rows, so that it costs the insert of a good hour nothing. Why
-- calls of a year failed is read from here, and on which days the failures of a filter are. Days of before are filled
-- by the check of closed days, like any that disagrees with its calls; until then those are asked.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS failures_daily
(
    application_id  UUID COMMENT 'Application',
    day             Date COMMENT 'Beijing day of the calls start',
    model           LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    status_code     UInt16 COMMENT 'HTTP status told to the caller; 499 means the response did not end completely',
    reason_type     LowCardinality(String) COMMENT 'Kind of failure',
    reason_code     LowCardinality(String) COMMENT 'Exact cause of failure',
    upstream_status UInt16 COMMENT 'HTTP status the upstream answered; 0 when it did not',
    calls           SimpleAggregateFunction(sum, Int64) COMMENT 'Failed calls; signed, so that a repair is an added row',
    first_seen      SimpleAggregateFunction(min, DateTime64(3, 'Asia/Shanghai')) COMMENT 'Start of the first of them',
    last_seen       SimpleAggregateFunction(max, DateTime64(3, 'Asia/Shanghai')) COMMENT 'Start of the last of them'
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(day)
ORDER BY (application_id, day, model, status_code, reason_type, reason_code, upstream_status)
TTL day + INTERVAL 434 DAY
SETTINGS index_granularity = 256, min_compress_block_size = 8192, max_compress_block_size = 16384,
    merge_with_ttl_timeout = 86400, min_age_to_force_merge_seconds = 3600, non_replicated_deduplication_window = 10000,
    replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
COMMENT 'Failures per application, Beijing day, model and reason';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS calls_to_failures_daily TO failures_daily AS
SELECT
    application_id,
    toDate(start_time) AS day,
    model,
    status_code,
    reason_type,
    reason_code,
    upstream_status,
    toInt64(count()) AS calls,
    min(start_time) AS first_seen,
    max(start_time) AS last_seen
FROM calls
WHERE NOT success
GROUP BY application_id, day, model, status_code, reason_type, reason_code, upstream_status;
-- +goose StatementEnd

-- +goose Down
-- The table hurts nobody.
SELECT 1;
