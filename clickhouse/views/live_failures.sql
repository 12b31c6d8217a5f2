CREATE OR REPLACE VIEW live_failures
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
