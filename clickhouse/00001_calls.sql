-- Tables of the call ledger. Every statement can be repeated. The time to live of calls and
-- rollups is the 399 answered days plus 35 (totals and pages never disagree at the edge).
-- One INSERT holds one Beijing day, so that it is atomic and its token counts once. A few of thousands
-- of applications are read at a time: small granules, small compressed blocks and, of the daily rollup,
-- few partitions keep what is unpacked beside them little.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS calls
(
    application_id  UUID COMMENT 'Application whose Access Key made the call',
    start_time      DateTime64(3, 'Asia/Shanghai') COMMENT 'When the request arrived, Beijing time; decides the day a call belongs to' CODEC(Delta(8), ZSTD(1)),
    call_id         UUID COMMENT 'Flow number, also sent as X-Call-Id; UUIDv7 of the start millisecond' CODEC(ZSTD(1)),
    user_id         UUID COMMENT 'Owner of the application at the time of the call',
    model           LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    duration_ms     UInt32 COMMENT 'Whole request in milliseconds: authentication, upstream and transfer; whole stream for SSE' CODEC(T64, ZSTD(1)),
    status_code     UInt16 COMMENT 'HTTP status told to the caller; 499 means the response did not end completely' CODEC(ZSTD(1)),
    success         Bool COMMENT 'Status 2xx and the response ended completely' CODEC(ZSTD(1)),
    streamed        Bool COMMENT 'The response was an event stream' CODEC(ZSTD(1)),
    first_byte_ms   Nullable(UInt32) COMMENT 'Milliseconds until the first response byte of the upstream; null when none came' CODEC(T64, ZSTD(1)),
    ended_by        LowCardinality(String) COMMENT 'complete, client_abort, upstream_abort, timeout, shutdown or denied',
    reason_type     LowCardinality(String) COMMENT 'Kind of failure; empty for a success',
    reason_code     LowCardinality(String) COMMENT 'Exact cause of failure; empty for a success',
    upstream_status UInt16 COMMENT 'HTTP status the upstream answered; 0 when it did not' CODEC(ZSTD(1)),
    request_bytes   UInt64 COMMENT 'Request body bytes read from the caller' CODEC(T64, ZSTD(1)),
    response_bytes  UInt64 COMMENT 'Response body bytes accepted by the caller' CODEC(T64, ZSTD(1)),
    batch_id        LowCardinality(String) COMMENT 'Insert token: spool segment, Beijing day, number',
    INDEX batch_id batch_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(start_time)
ORDER BY (application_id, start_time, call_id)
TTL toDate(start_time) + INTERVAL 434 DAY
SETTINGS index_granularity = 1024, min_compress_block_size = 16384, max_compress_block_size = 65536,
    non_replicated_deduplication_window = 10000, ttl_only_drop_parts = 1
COMMENT 'One row per call that could be attributed to an application';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS call_failures
(
    application_id UUID COMMENT 'Application whose Access Key made the call',
    start_time     DateTime64(3, 'Asia/Shanghai') COMMENT 'When the request arrived, Beijing time' CODEC(Delta(8), ZSTD(1)),
    call_id        UUID COMMENT 'Flow number of the failed call in calls' CODEC(ZSTD(1)),
    message        String COMMENT 'Readable failure reason; for upstream errors the extracted, length-limited error message' CODEC(ZSTD(3)),
    method         LowCardinality(String) COMMENT 'HTTP method of the request',
    path           String COMMENT 'Request path after /gateway' CODEC(ZSTD(3)),
    request_body   String COMMENT 'Redacted JSON body of the caller, at most 16 KB; empty when body_note says why' CODEC(ZSTD(3)),
    query          String COMMENT 'Redacted query parameters as a JSON object' CODEC(ZSTD(3)),
    body_note      LowCardinality(String) COMMENT 'Why no body is kept: not_fully_read, too_large, empty, not_json, invalid_json; empty when it is kept',
    batch_id       LowCardinality(String) COMMENT 'Insert token: spool segment, Beijing day, number',
    INDEX batch_id batch_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(start_time)
ORDER BY (application_id, start_time, call_id)
TTL toDate(start_time) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 10000, ttl_only_drop_parts = 1
COMMENT 'Failure detail of failed calls, kept 30 days';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS usage_daily
(
    application_id UUID COMMENT 'Application',
    day            Date COMMENT 'Beijing day of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    calls          SimpleAggregateFunction(sum, Int64) COMMENT 'Calls; signed, so that a repair is an added row',
    successes      SimpleAggregateFunction(sum, Int64) COMMENT 'Successful calls',
    duration_ms    SimpleAggregateFunction(sum, Int64) COMMENT 'Sum of durations in milliseconds',
    durations      SimpleAggregateFunction(sumMap, Tuple(Array(UInt16), Array(Int64))) COMMENT 'Calls per duration bucket: 32 buckets per power of two, exact below 64 ms'
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(day)
ORDER BY (application_id, day, model)
TTL day + INTERVAL 434 DAY
SETTINGS index_granularity = 256, min_compress_block_size = 8192, max_compress_block_size = 16384,
    merge_with_ttl_timeout = 86400, non_replicated_deduplication_window = 10000
COMMENT 'Calls per application, Beijing day and model';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS usage_hourly
(
    application_id UUID COMMENT 'Application',
    hour           DateTime('Asia/Shanghai') COMMENT 'Beijing hour of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    calls          SimpleAggregateFunction(sum, Int64) COMMENT 'Calls; signed, so that a repair is an added row',
    successes      SimpleAggregateFunction(sum, Int64) COMMENT 'Successful calls',
    duration_ms    SimpleAggregateFunction(sum, Int64) COMMENT 'Sum of durations in milliseconds',
    durations      SimpleAggregateFunction(sumMap, Tuple(Array(UInt16), Array(Int64))) COMMENT 'Calls per duration bucket: 32 buckets per power of two, exact below 64 ms'
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMMDD(hour)
ORDER BY (application_id, hour, model)
TTL toDate(hour) + INTERVAL 434 DAY
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, ttl_only_drop_parts = 1
COMMENT 'Calls per application, Beijing hour and model';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS app_models
(
    application_id UUID COMMENT 'Application',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    first_used     SimpleAggregateFunction(min, DateTime64(3, 'Asia/Shanghai')) COMMENT 'Start of the first call',
    last_used      SimpleAggregateFunction(max, DateTime64(3, 'Asia/Shanghai')) COMMENT 'Start of the last call'
)
ENGINE = AggregatingMergeTree
ORDER BY (application_id, model)
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 10000
COMMENT 'Models every application has ever called, for filters';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS deleted_applications
(
    application_id UUID COMMENT 'Deleted application; ids are never reused',
    deleted_at     DateTime64(3, 'Asia/Shanghai') COMMENT 'When it was deleted, Beijing time'
)
ENGINE = ReplacingMergeTree
ORDER BY application_id
COMMENT 'Applications whose calls no longer appear and are being swept';
-- +goose StatementEnd

-- +goose Down
DROP TABLE IF EXISTS deleted_applications;
DROP TABLE IF EXISTS app_models;
DROP TABLE IF EXISTS usage_hourly;
DROP TABLE IF EXISTS usage_daily;
DROP TABLE IF EXISTS call_failures;
DROP TABLE IF EXISTS calls;
