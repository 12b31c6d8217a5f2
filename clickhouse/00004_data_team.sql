-- The rest of what data teams read. Views run with the rights of the account that migrates, so that
-- their readers need no rights on the tables behind them, where bodies are (clickhouse/reader.go).

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE live_calls MODIFY SQL SECURITY DEFINER DEFINER = CURRENT_USER;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE live_usage_daily MODIFY SQL SECURITY DEFINER DEFINER = CURRENT_USER;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE live_usage_hourly MODIFY SQL SECURITY DEFINER DEFINER = CURRENT_USER;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_failures
(
    application_id UUID COMMENT 'Application whose Access Key made the call',
    call_id        UUID COMMENT 'Flow number of the failed call in live_calls',
    start_time     DateTime64(3, 'Asia/Shanghai') COMMENT 'When the request arrived, Beijing time',
    day            Date COMMENT 'Beijing day of start_time',
    message        String COMMENT 'Readable failure reason; for upstream errors the extracted, redacted error message',
    method         LowCardinality(String) COMMENT 'HTTP method of the request',
    body_note      LowCardinality(String) COMMENT 'Why no body is kept: not_fully_read, too_large, empty, not_json, invalid_json; empty when it is kept'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT application_id, call_id, start_time, toDate(start_time) AS day, message, method, body_note
FROM call_failures
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
COMMENT 'Failure detail of existing applications without paths, bodies and queries, kept 30 days';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_models
(
    application_id UUID COMMENT 'Application',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    first_used     DateTime64(3, 'Asia/Shanghai') COMMENT 'Start of the first call, Beijing time',
    last_used      DateTime64(3, 'Asia/Shanghai') COMMENT 'Start of the last call, Beijing time'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT application_id, model, min(m.first_used) AS first_used, max(m.last_used) AS last_used
FROM app_models AS m
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, model
COMMENT 'Models every existing application has ever called, however long ago';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_durations
(
    application_id UUID COMMENT 'Application',
    day            Date COMMENT 'Beijing day of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    from_ms        Int64 COMMENT 'Shortest duration of the bucket in milliseconds',
    below_ms       Int64 COMMENT 'Durations of the bucket are below this; at most 1/32 above from_ms, or 1 ms',
    calls          Int64 COMMENT 'Calls whose duration is in the bucket'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT application_id, day, model, from_ms, from_ms + bitShiftLeft(toInt64(1), shift) AS below_ms, sum(n) AS calls
FROM
(
    SELECT application_id, day, model, n,
        toUInt8(if(bucket < 64, 0, intDiv(bucket, 32) - 1)) AS shift,
        bitShiftLeft(toInt64(if(bucket < 64, bucket, bucket % 32 + 32)), shift) AS from_ms
    FROM usage_daily AS u
    ARRAY JOIN u.durations.1 AS bucket, u.durations.2 AS n
    WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
)
GROUP BY application_id, day, model, from_ms, shift
HAVING sum(n) != 0
COMMENT 'How many calls took how long, per Beijing day and model: add them up over any days for percentiles within 2 percent';
-- +goose StatementEnd

-- +goose Down
DROP VIEW IF EXISTS live_durations;
DROP VIEW IF EXISTS live_models;
DROP VIEW IF EXISTS live_failures;
ALTER TABLE live_usage_hourly MODIFY SQL SECURITY INVOKER;
ALTER TABLE live_usage_daily MODIFY SQL SECURITY INVOKER;
ALTER TABLE live_calls MODIFY SQL SECURITY INVOKER;
