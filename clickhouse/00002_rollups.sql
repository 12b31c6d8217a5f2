-- Materialized views fill the rollups in the same insert as calls. A duration of d ms falls into
-- bucket d below 64, else into one of 32 equal buckets of its power of two (error <= 1/64):
-- bucket = 32 * shift + (d >> shift), with shift = 0 below 64 and floor(log2(d)) - 5 from there on.
-- internal/stats holds the inverse. The shift is never negative: bitShiftRight would refuse it.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS calls_to_usage_daily TO usage_daily AS
WITH toUInt8(floor(log2(greatest(c.duration_ms, 32))) - 5) AS shift
SELECT
    application_id,
    toDate(start_time) AS day,
    model,
    toInt64(count()) AS calls,
    toInt64(countIf(success)) AS successes,
    toInt64(sum(c.duration_ms)) AS duration_ms,
    sumMap([toUInt16(32 * shift + bitShiftRight(c.duration_ms, shift))], [toInt64(1)]) AS durations
FROM calls AS c
GROUP BY application_id, day, model;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS calls_to_usage_hourly TO usage_hourly AS
WITH toUInt8(floor(log2(greatest(c.duration_ms, 32))) - 5) AS shift
SELECT
    application_id,
    toStartOfHour(start_time) AS hour,
    model,
    toInt64(count()) AS calls,
    toInt64(countIf(success)) AS successes,
    toInt64(sum(c.duration_ms)) AS duration_ms,
    sumMap([toUInt16(32 * shift + bitShiftRight(c.duration_ms, shift))], [toInt64(1)]) AS durations
FROM calls AS c
GROUP BY application_id, hour, model;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS calls_to_app_models TO app_models AS
SELECT
    application_id,
    model,
    min(start_time) AS first_used,
    max(start_time) AS last_used
FROM calls
GROUP BY application_id, model;
-- +goose StatementEnd

-- +goose Down
DROP VIEW IF EXISTS calls_to_app_models;
DROP VIEW IF EXISTS calls_to_usage_hourly;
DROP VIEW IF EXISTS calls_to_usage_daily;
