-- What each Beijing day came to when it was closed (internal/calls/ledger), for data teams; and tokens by hour, so that
-- days of other zones can be held against a provider's invoice. Hours of before are filled by the check of closed days,
-- like any that disagrees with its calls.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS days_closed
(
    application_id     UUID COMMENT 'Application; the nil id stands for the day itself and for what may be anybody''s',
    day                Date COMMENT 'Beijing day of the calls start',
    revision           UInt32 COMMENT 'Of the closing, from 1; a day that calls came late to is closed again',
    user_id            UUID COMMENT 'Owner of the application when the day was closed',
    closed_at          DateTime64(3, 'Asia/Shanghai') COMMENT 'When the day was closed, Beijing time',
    calls              Int64 COMMENT 'Calls',
    successes          Int64 COMMENT 'Successful calls',
    duration_ms        Int64 COMMENT 'Sum of durations in milliseconds',
    reported           Int64 COMMENT 'Calls whose answer ended and reported tokens',
    partial            Int64 COMMENT 'Calls whose answer was interrupted: their tokens are a lower bound',
    absent             Int64 COMMENT 'Calls whose answer reports no tokens',
    unreadable         Int64 COMMENT 'Calls whose answer''s report cannot be read',
    input_tokens       Nullable(Int64) COMMENT 'Input tokens, cached and cache-written ones included; null when no call reports them',
    output_tokens      Nullable(Int64) COMMENT 'Output tokens, reasoning included; null when no call reports them',
    cached_tokens      Nullable(Int64) COMMENT 'Input tokens read from the provider''s cache; null when no call reports them',
    cache_write_tokens Nullable(Int64) COMMENT 'Input tokens written to the provider''s cache; null when no call reports them',
    reasoning_tokens   Nullable(Int64) COMMENT 'Output tokens spent on reasoning; null when no call reports them',
    currencies         Array(String) COMMENT 'Currencies of the prices that held',
    amounts            Array(Decimal(38, 10)) COMMENT 'Estimated cost in each of these, by the prices of when the day was closed',
    unpriced_calls     Int64 COMMENT 'Calls with tokens for which no price held',
    missing_calls      Int64 COMMENT 'Calls known to be missing; of the nil id those that may be anybody''s',
    missing_unknown    Bool COMMENT 'A spool was given up of which nobody knows how many calls it held; of the nil id only'
)
ENGINE = ReplacingMergeTree
PARTITION BY toYear(day)
ORDER BY (application_id, day, revision)
TTL day + INTERVAL 434 DAY
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 10000,
    replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
COMMENT 'Figures of closed Beijing days per application and revision';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_days_closed
(
    application_id     UUID COMMENT 'Application; the nil id stands for the day itself and for what may be anybody''s',
    day                Date COMMENT 'Beijing day of the calls start',
    revision           UInt32 COMMENT 'Of the last closing, from 1; a day that calls came late to is closed again',
    user_id            UUID COMMENT 'Owner of the application when the day was closed',
    closed_at          DateTime64(3, 'Asia/Shanghai') COMMENT 'When the day was closed, Beijing time',
    calls              Int64 COMMENT 'Calls',
    successes          Int64 COMMENT 'Successful calls',
    failures           Int64 COMMENT 'Failed calls',
    duration_ms        Int64 COMMENT 'Sum of durations in milliseconds',
    reported           Int64 COMMENT 'Calls whose answer ended and reported tokens',
    partial            Int64 COMMENT 'Calls whose answer was interrupted: their tokens are a lower bound',
    absent             Int64 COMMENT 'Calls whose answer reports no tokens',
    unreadable         Int64 COMMENT 'Calls whose answer''s report cannot be read',
    input_tokens       Nullable(Int64) COMMENT 'Input tokens, cached and cache-written ones included; null when no call reports them',
    output_tokens      Nullable(Int64) COMMENT 'Output tokens, reasoning included; null when no call reports them',
    cached_tokens      Nullable(Int64) COMMENT 'Input tokens read from the provider''s cache; null when no call reports them',
    cache_write_tokens Nullable(Int64) COMMENT 'Input tokens written to the provider''s cache; null when no call reports them',
    reasoning_tokens   Nullable(Int64) COMMENT 'Output tokens spent on reasoning; null when no call reports them',
    currencies         Array(String) COMMENT 'Currencies of the prices that held',
    amounts            Array(Decimal(38, 10)) COMMENT 'Estimated cost in each of these, by the prices of when the day was closed',
    unpriced_calls     Int64 COMMENT 'Calls with tokens for which no price held',
    missing_calls      Int64 COMMENT 'Calls known to be missing; of the nil id those that may be anybody''s',
    missing_unknown    Bool COMMENT 'A spool was given up of which nobody knows how many calls it held; of the nil id only'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    application_id, day, revision, user_id, closed_at, calls, successes, calls - successes AS failures, duration_ms,
    reported, partial, absent, unreadable, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
    currencies, amounts, unpriced_calls, missing_calls, missing_unknown
FROM
(
    SELECT *, max(d.revision) OVER (PARTITION BY d.day) AS newest
    FROM days_closed AS d FINAL
)
WHERE revision = newest AND application_id NOT IN (SELECT application_id FROM deleted_applications)
COMMENT 'Figures of each closed Beijing day per existing application, as the last closing found them';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS tokens_hourly
(
    application_id UUID COMMENT 'Application',
    hour           DateTime('Asia/Shanghai') COMMENT 'Beijing hour of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    upstream_model LowCardinality(String) COMMENT 'Model that answered, as the answer names it; other beyond 50 names a capability and day',
    reported       SimpleAggregateFunction(sum, Int64) COMMENT 'Calls whose answer ended and reported tokens; signed, so that a repair is an added row',
    partial        SimpleAggregateFunction(sum, Int64) COMMENT 'Calls whose answer was interrupted: their tokens are a lower bound',
    absent         SimpleAggregateFunction(sum, Int64) COMMENT 'Calls whose answer reports no tokens',
    unreadable     SimpleAggregateFunction(sum, Int64) COMMENT 'Calls whose answer''s report cannot be read',
    counted        SimpleAggregateFunction(sum, Int64) COMMENT 'Calls with input or output tokens',
    input          SimpleAggregateFunction(sum, Int64) COMMENT 'Input tokens, cached and cache-written ones included',
    output         SimpleAggregateFunction(sum, Int64) COMMENT 'Output tokens, reasoning included',
    cached         SimpleAggregateFunction(sum, Int64) COMMENT 'Input tokens read from the provider''s cache',
    cache_write    SimpleAggregateFunction(sum, Int64) COMMENT 'Input tokens written to the provider''s cache',
    reasoning      SimpleAggregateFunction(sum, Int64) COMMENT 'Output tokens spent on reasoning',
    PROJECTION of_models
    (
        SELECT hour, model, upstream_model, sum(reported), sum(partial), sum(absent), sum(unreadable), sum(counted),
            sum(input), sum(output), sum(cached), sum(cache_write), sum(reasoning)
        GROUP BY hour, model, upstream_model
    )
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (application_id, hour, model, upstream_model)
TTL toDate(hour) + INTERVAL 434 DAY
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, deduplicate_merge_projection_mode = 'rebuild',
    lightweight_mutation_projection_mode = 'rebuild', non_replicated_deduplication_window = 10000,
    replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
COMMENT 'Tokens per application, Beijing hour, model and model that answered';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS calls_to_tokens_hourly TO tokens_hourly AS
SELECT
    application_id,
    toStartOfHour(start_time) AS hour,
    model,
    upstream_model,
    toInt64(countIf(c.usage_state = 'reported')) AS reported,
    toInt64(countIf(c.usage_state = 'partial')) AS partial,
    toInt64(countIf(c.usage_state = 'absent')) AS absent,
    toInt64(countIf(c.usage_state = 'unreadable')) AS unreadable,
    toInt64(countIf(isNotNull(c.input_tokens) OR isNotNull(c.output_tokens))) AS counted,
    toInt64(sum(ifNull(c.input_tokens, 0))) AS input,
    toInt64(sum(ifNull(c.output_tokens, 0))) AS output,
    toInt64(sum(ifNull(c.cached_tokens, 0))) AS cached,
    toInt64(sum(ifNull(c.cache_write_tokens, 0))) AS cache_write,
    toInt64(sum(ifNull(c.reasoning_tokens, 0))) AS reasoning
FROM calls AS c
WHERE c.usage_state NOT IN ('', 'none')
GROUP BY application_id, hour, model, upstream_model;
-- +goose StatementEnd

-- +goose Down
-- The tables hurt nobody.
SELECT 1;
