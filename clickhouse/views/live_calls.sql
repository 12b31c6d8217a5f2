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
    ended_by           LowCardinality(String) COMMENT 'complete, client_abort, upstream_abort, timeout, shutdown, denied or revoked',
    reason_type        LowCardinality(String) COMMENT 'Kind of failure; empty for a success',
    reason_code        LowCardinality(String) COMMENT 'Exact cause of failure; empty for a success',
    upstream_status    UInt16 COMMENT 'HTTP status the upstream answered; 0 when it did not',
    request_bytes      UInt64 COMMENT 'Request body bytes read from the caller',
    response_bytes     UInt64 COMMENT 'Response body bytes accepted by the caller',
    trace_id           String COMMENT 'W3C trace id, 32 hexadecimal digits; empty when the call belongs to no trace',
    usage_state        LowCardinality(String) COMMENT 'reported, partial (interrupted, or ended before the last of its usage: a lower bound), absent, unreadable, none (no 2xx answer to a POST); empty when not collected',
    upstream_model     LowCardinality(String) COMMENT 'Model that answered, as the answer names it; other beyond 50 names without a price, an owner, capability and day',
    input_tokens       Nullable(UInt32) COMMENT 'Input tokens the answer reports, cached and cache-written ones included; null when it does not',
    output_tokens      Nullable(UInt32) COMMENT 'Output tokens the answer reports, reasoning included; null when it does not',
    cached_tokens      Nullable(UInt32) COMMENT 'Input tokens read from the provider''s cache; null when not reported',
    cache_write_tokens Nullable(UInt32) COMMENT 'Input tokens written to the provider''s cache; null when not reported',
    reasoning_tokens   Nullable(UInt32) COMMENT 'Output tokens spent on reasoning; null when not reported',
    key_id             UUID COMMENT 'Key of the application that the call was made with, by its id; all zero when not collected',
    upstream_id        LowCardinality(String) COMMENT 'Named upstream that the call was sent to last; empty when it went to the address of the capability itself, or nowhere',
    attempts           UInt8 COMMENT 'Upstreams that the call was sent to; 0 when it was refused before, or not collected',
    estimated_tokens   UInt32 COMMENT 'Tokens that limits were charged beyond those the answer reports, estimated; 0 when it reports all, or no limit of tokens holds',
    failed_upstream_id LowCardinality(String) COMMENT 'Named upstream that the call was sent to before the last one, and that failed; empty when there was none',
    failed_status      UInt16 COMMENT 'HTTP status it answered; 0 when it did not',
    failed_ms          UInt32 COMMENT 'Milliseconds from the start of the call until it had failed, part of duration_ms',
    failed_reason      LowCardinality(String) COMMENT 'Why it failed, a word of reason_code; empty when there was none'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    application_id, user_id, call_id, start_time, toDate(start_time) AS day, model,
    duration_ms, status_code, success, streamed, first_byte_ms, ended_by,
    reason_type, reason_code, upstream_status, request_bytes, response_bytes, trace_id,
    usage_state, upstream_model, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, key_id,
    upstream_id, attempts, estimated_tokens, failed_upstream_id, failed_status, failed_ms, failed_reason
FROM calls
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
COMMENT 'Calls of existing applications; day is the Beijing day of the start';
