-- What data teams read: calls of live applications only, in Beijing days.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_calls
(
    application_id  UUID COMMENT 'Application whose Access Key made the call',
    user_id         UUID COMMENT 'Owner of the application at the time of the call',
    call_id         UUID COMMENT 'Flow number, also sent as X-Call-Id',
    start_time      DateTime64(3, 'Asia/Shanghai') COMMENT 'When the request arrived, Beijing time',
    day             Date COMMENT 'Beijing day of start_time',
    model           LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    duration_ms     UInt32 COMMENT 'Whole request in milliseconds; whole stream for SSE',
    status_code     UInt16 COMMENT 'HTTP status told to the caller; 499 means the response did not end completely',
    success         Bool COMMENT 'Status 2xx and the response ended completely',
    streamed        Bool COMMENT 'The response was an event stream',
    first_byte_ms   Nullable(UInt32) COMMENT 'Milliseconds until the first response byte of the upstream; null when none came',
    ended_by        LowCardinality(String) COMMENT 'complete, client_abort, upstream_abort, timeout, shutdown or denied',
    reason_type     LowCardinality(String) COMMENT 'Kind of failure; empty for a success',
    reason_code     LowCardinality(String) COMMENT 'Exact cause of failure; empty for a success',
    upstream_status UInt16 COMMENT 'HTTP status the upstream answered; 0 when it did not',
    request_bytes   UInt64 COMMENT 'Request body bytes read from the caller',
    response_bytes  UInt64 COMMENT 'Response body bytes accepted by the caller'
)
AS SELECT
    application_id, user_id, call_id, start_time, toDate(start_time) AS day, model,
    duration_ms, status_code, success, streamed, first_byte_ms, ended_by,
    reason_type, reason_code, upstream_status, request_bytes, response_bytes
FROM calls
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
COMMENT 'Calls of existing applications; day is the Beijing day of the start';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_usage_daily
(
    application_id UUID COMMENT 'Application',
    day            Date COMMENT 'Beijing day of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    calls          Int64 COMMENT 'Calls',
    successes      Int64 COMMENT 'Successful calls',
    failures       Int64 COMMENT 'Calls minus successful calls',
    duration_ms    Int64 COMMENT 'Sum of durations in milliseconds'
)
AS SELECT
    application_id, day, model,
    sum(u.calls) AS calls,
    sum(u.successes) AS successes,
    sum(u.calls) - sum(u.successes) AS failures,
    sum(u.duration_ms) AS duration_ms
FROM usage_daily AS u
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, day, model
COMMENT 'Usage of existing applications per Beijing day and model';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_usage_hourly
(
    application_id UUID COMMENT 'Application',
    hour           DateTime('Asia/Shanghai') COMMENT 'Beijing hour of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    calls          Int64 COMMENT 'Calls',
    successes      Int64 COMMENT 'Successful calls',
    failures       Int64 COMMENT 'Calls minus successful calls',
    duration_ms    Int64 COMMENT 'Sum of durations in milliseconds'
)
AS SELECT
    application_id, hour, model,
    sum(u.calls) AS calls,
    sum(u.successes) AS successes,
    sum(u.calls) - sum(u.successes) AS failures,
    sum(u.duration_ms) AS duration_ms
FROM usage_hourly AS u
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, hour, model
COMMENT 'Usage of existing applications per Beijing hour and model';
-- +goose StatementEnd

-- +goose Down
DROP VIEW IF EXISTS live_usage_hourly;
DROP VIEW IF EXISTS live_usage_daily;
DROP VIEW IF EXISTS live_calls;
