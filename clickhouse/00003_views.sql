-- What data teams read: calls of live applications only, in Beijing days.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_calls AS
SELECT
    application_id, user_id, call_id, start_time, toDate(start_time) AS day, model,
    duration_ms, status_code, success, streamed, first_byte_ms, ended_by,
    reason_type, reason_code, upstream_status, request_bytes, response_bytes
FROM calls
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
COMMENT 'Calls of existing applications; day is the Beijing day of the start';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE VIEW IF NOT EXISTS live_usage_daily AS
SELECT
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
CREATE VIEW IF NOT EXISTS live_usage_hourly AS
SELECT
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
