-- The trace that a call belongs to, where the gateway traces calls (deploy/docs/traces.md).

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls
    ADD COLUMN IF NOT EXISTS trace_id String COMMENT 'W3C trace id, 32 hexadecimal digits; empty when the call belongs to no trace' CODEC(ZSTD(1)),
    ADD INDEX IF NOT EXISTS trace_id trace_id TYPE bloom_filter(0.001) GRANULARITY 1;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE VIEW live_calls
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
    response_bytes  UInt64 COMMENT 'Response body bytes accepted by the caller',
    trace_id        String COMMENT 'W3C trace id, 32 hexadecimal digits; empty when the call belongs to no trace'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    application_id, user_id, call_id, start_time, toDate(start_time) AS day, model,
    duration_ms, status_code, success, streamed, first_byte_ms, ended_by,
    reason_type, reason_code, upstream_status, request_bytes, response_bytes, trace_id
FROM calls
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
COMMENT 'Calls of existing applications; day is the Beijing day of the start';
-- +goose StatementEnd

-- +goose Down
-- The columns hurt nobody.
SELECT 1;
