-- What the answers to calls report of their tokens, and a rollup of it of its own: the
-- figures of the other rollups cost what they cost before. Rows of earlier versions have no state and are
-- in no sum.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls
    ADD COLUMN IF NOT EXISTS usage_state LowCardinality(String) COMMENT 'reported, partial (interrupted: a lower bound), absent, unreadable, none (no 2xx answer to a POST); empty when not collected',
    ADD COLUMN IF NOT EXISTS upstream_model LowCardinality(String) COMMENT 'Model that answered, as the answer names it; other beyond 50 names a capability and day',
    ADD COLUMN IF NOT EXISTS input_tokens Nullable(UInt32) COMMENT 'Input tokens the answer reports, cached and cache-written ones included; null when it does not' CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS output_tokens Nullable(UInt32) COMMENT 'Output tokens the answer reports, reasoning included; null when it does not' CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS cached_tokens Nullable(UInt32) COMMENT 'Input tokens read from the provider''s cache; null when not reported' CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS cache_write_tokens Nullable(UInt32) COMMENT 'Input tokens written to the provider''s cache; null when not reported' CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS reasoning_tokens Nullable(UInt32) COMMENT 'Output tokens spent on reasoning; null when not reported' CODEC(T64, ZSTD(1));
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS tokens_daily
(
    application_id     UUID COMMENT 'Application',
    day                Date COMMENT 'Beijing day of the calls start',
    model              LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    upstream_model     LowCardinality(String) COMMENT 'Model that answered, as the answer names it; other beyond 50 names a capability and day',
    reported           SimpleAggregateFunction(sum, Int64) COMMENT 'Calls whose answer ended and reported tokens; signed, so that a repair is an added row',
    partial            SimpleAggregateFunction(sum, Int64) COMMENT 'Calls whose answer was interrupted: their tokens are a lower bound',
    absent             SimpleAggregateFunction(sum, Int64) COMMENT 'Calls whose answer reports no tokens',
    unreadable         SimpleAggregateFunction(sum, Int64) COMMENT 'Calls whose answer''s report cannot be read',
    streamed           SimpleAggregateFunction(sum, Int64) COMMENT 'Calls of any of these states whose answer was an event stream',
    streamed_absent    SimpleAggregateFunction(sum, Int64) COMMENT 'Event streams that ended and report no tokens',
    counted            SimpleAggregateFunction(sum, Int64) COMMENT 'Calls with input or output tokens',
    input              SimpleAggregateFunction(sum, Int64) COMMENT 'Input tokens, cached and cache-written ones included',
    output             SimpleAggregateFunction(sum, Int64) COMMENT 'Output tokens, reasoning included',
    cached             SimpleAggregateFunction(sum, Int64) COMMENT 'Input tokens read from the provider''s cache',
    cache_write        SimpleAggregateFunction(sum, Int64) COMMENT 'Input tokens written to the provider''s cache',
    reasoning          SimpleAggregateFunction(sum, Int64) COMMENT 'Output tokens spent on reasoning',
    input_calls        SimpleAggregateFunction(sum, Int64) COMMENT 'Calls that report input tokens',
    output_calls       SimpleAggregateFunction(sum, Int64) COMMENT 'Calls that report output tokens',
    cached_calls       SimpleAggregateFunction(sum, Int64) COMMENT 'Calls that report cached tokens',
    cache_write_calls  SimpleAggregateFunction(sum, Int64) COMMENT 'Calls that report cache-written tokens',
    reasoning_calls    SimpleAggregateFunction(sum, Int64) COMMENT 'Calls that report reasoning tokens'
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(day)
ORDER BY (application_id, day, model, upstream_model)
TTL day + INTERVAL 434 DAY
SETTINGS index_granularity = 256, min_compress_block_size = 8192, max_compress_block_size = 16384,
    merge_with_ttl_timeout = 86400, non_replicated_deduplication_window = 10000,
    replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
COMMENT 'Tokens per application, Beijing day, model and model that answered';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS calls_to_tokens_daily TO tokens_daily AS
SELECT
    application_id,
    toDate(start_time) AS day,
    model,
    upstream_model,
    toInt64(countIf(c.usage_state = 'reported')) AS reported,
    toInt64(countIf(c.usage_state = 'partial')) AS partial,
    toInt64(countIf(c.usage_state = 'absent')) AS absent,
    toInt64(countIf(c.usage_state = 'unreadable')) AS unreadable,
    toInt64(countIf(c.streamed)) AS streamed,
    toInt64(countIf(c.streamed AND c.usage_state = 'absent')) AS streamed_absent,
    toInt64(countIf(isNotNull(c.input_tokens) OR isNotNull(c.output_tokens))) AS counted,
    toInt64(sum(ifNull(c.input_tokens, 0))) AS input,
    toInt64(sum(ifNull(c.output_tokens, 0))) AS output,
    toInt64(sum(ifNull(c.cached_tokens, 0))) AS cached,
    toInt64(sum(ifNull(c.cache_write_tokens, 0))) AS cache_write,
    toInt64(sum(ifNull(c.reasoning_tokens, 0))) AS reasoning,
    toInt64(count(c.input_tokens)) AS input_calls,
    toInt64(count(c.output_tokens)) AS output_calls,
    toInt64(count(c.cached_tokens)) AS cached_calls,
    toInt64(count(c.cache_write_tokens)) AS cache_write_calls,
    toInt64(count(c.reasoning_tokens)) AS reasoning_calls
FROM calls AS c
WHERE c.usage_state NOT IN ('', 'none')
GROUP BY application_id, day, model, upstream_model;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE VIEW live_calls
(
    application_id     UUID COMMENT 'Application whose Access Key made the call',
    user_id            UUID COMMENT 'Owner of the application at the time of the call',
    call_id            UUID COMMENT 'Flow number, also sent as X-Call-Id',
    start_time         DateTime64(3, 'Asia/Shanghai') COMMENT 'When the request arrived, Beijing time',
    day                Date COMMENT 'Beijing day of start_time',
    model              LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    duration_ms        UInt32 COMMENT 'Whole request in milliseconds; whole stream for SSE',
    status_code        UInt16 COMMENT 'HTTP status told to the caller; 499 means the response did not end completely',
    success            Bool COMMENT 'Status 2xx and the response ended completely',
    streamed           Bool COMMENT 'The response was an event stream',
    first_byte_ms      Nullable(UInt32) COMMENT 'Milliseconds until the first response byte of the upstream; null when none came',
    ended_by           LowCardinality(String) COMMENT 'complete, client_abort, upstream_abort, timeout, shutdown or denied',
    reason_type        LowCardinality(String) COMMENT 'Kind of failure; empty for a success',
    reason_code        LowCardinality(String) COMMENT 'Exact cause of failure; empty for a success',
    upstream_status    UInt16 COMMENT 'HTTP status the upstream answered; 0 when it did not',
    request_bytes      UInt64 COMMENT 'Request body bytes read from the caller',
    response_bytes     UInt64 COMMENT 'Response body bytes accepted by the caller',
    trace_id           String COMMENT 'W3C trace id, 32 hexadecimal digits; empty when the call belongs to no trace',
    usage_state        LowCardinality(String) COMMENT 'reported, partial (interrupted: a lower bound), absent, unreadable, none (no 2xx answer to a POST); empty when not collected',
    upstream_model     LowCardinality(String) COMMENT 'Model that answered, as the answer names it; other beyond 50 names a capability and day',
    input_tokens       Nullable(UInt32) COMMENT 'Input tokens the answer reports, cached and cache-written ones included; null when it does not',
    output_tokens      Nullable(UInt32) COMMENT 'Output tokens the answer reports, reasoning included; null when it does not',
    cached_tokens      Nullable(UInt32) COMMENT 'Input tokens read from the provider''s cache; null when not reported',
    cache_write_tokens Nullable(UInt32) COMMENT 'Input tokens written to the provider''s cache; null when not reported',
    reasoning_tokens   Nullable(UInt32) COMMENT 'Output tokens spent on reasoning; null when not reported'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    application_id, user_id, call_id, start_time, toDate(start_time) AS day, model,
    duration_ms, status_code, success, streamed, first_byte_ms, ended_by,
    reason_type, reason_code, upstream_status, request_bytes, response_bytes, trace_id,
    usage_state, upstream_model, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens
FROM calls
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
COMMENT 'Calls of existing applications; day is the Beijing day of the start';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_tokens_daily
(
    application_id    UUID COMMENT 'Application',
    day               Date COMMENT 'Beijing day of the calls start',
    model             LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    upstream_model    LowCardinality(String) COMMENT 'Model that answered, as the answer names it; other beyond 50 names a capability and day',
    reported          Int64 COMMENT 'Calls whose answer ended and reported tokens',
    partial           Int64 COMMENT 'Calls whose answer was interrupted: their tokens are a lower bound',
    absent            Int64 COMMENT 'Calls whose answer reports no tokens',
    unreadable        Int64 COMMENT 'Calls whose answer''s report cannot be read',
    streamed          Int64 COMMENT 'Calls of any of these states whose answer was an event stream',
    streamed_absent   Int64 COMMENT 'Event streams that ended and report no tokens',
    counted           Int64 COMMENT 'Calls with input or output tokens',
    input_tokens      Nullable(Int64) COMMENT 'Input tokens, cached and cache-written ones included; null when no call reports them',
    output_tokens     Nullable(Int64) COMMENT 'Output tokens, reasoning included; null when no call reports them',
    cached_tokens     Nullable(Int64) COMMENT 'Input tokens read from the provider''s cache; null when no call reports them',
    cache_write_tokens Nullable(Int64) COMMENT 'Input tokens written to the provider''s cache; null when no call reports them',
    reasoning_tokens  Nullable(Int64) COMMENT 'Output tokens spent on reasoning; null when no call reports them'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    application_id, day, model, upstream_model,
    sum(t.reported) AS reported, sum(t.partial) AS partial, sum(t.absent) AS absent, sum(t.unreadable) AS unreadable,
    sum(t.streamed) AS streamed, sum(t.streamed_absent) AS streamed_absent, sum(t.counted) AS counted,
    if(sum(t.input_calls) > 0, sum(t.input), NULL) AS input_tokens,
    if(sum(t.output_calls) > 0, sum(t.output), NULL) AS output_tokens,
    if(sum(t.cached_calls) > 0, sum(t.cached), NULL) AS cached_tokens,
    if(sum(t.cache_write_calls) > 0, sum(t.cache_write), NULL) AS cache_write_tokens,
    if(sum(t.reasoning_calls) > 0, sum(t.reasoning), NULL) AS reasoning_tokens
FROM tokens_daily AS t
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, day, model, upstream_model
COMMENT 'Tokens of existing applications per Beijing day, model and model that answered';
-- +goose StatementEnd

-- +goose Down
-- The columns and tables hurt nobody.
SELECT 1;
