-- Calls of a day that are alike in what questions group and narrow them by are one row, with what they used: a question about a
-- month of ten million calls reads some thousand rows. Tags, users, hours and durations are asked of the calls themselves.
-- Rows of before are filled in the background; until then they are read themselves.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls ADD PROJECTION IF NOT EXISTS explored
    (SELECT application_id, toDate(start_time), model, upstream_model, key_id, status_code, upstream_status, success, ended_by,
        reason_type, reason_code, usage_state, `used.model`, `used.tier`, `used.band`, `used.meter`,
        count(), countIf(success), countIf(isNotNull(input_tokens) OR isNotNull(output_tokens)),
        sum(ifNull(input_tokens, 0)), sum(ifNull(output_tokens, 0)), sum(ifNull(cached_tokens, 0)),
        sum(ifNull(cache_write_tokens, 0)), sum(ifNull(reasoning_tokens, 0)), sumForEach(`used.amount`)
    GROUP BY application_id, toDate(start_time), model, upstream_model, key_id, status_code, upstream_status, success, ended_by,
        reason_type, reason_code, usage_state, `used.model`, `used.tier`, `used.band`, `used.meter`);
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE calls MATERIALIZE PROJECTION explored SETTINGS mutations_sync = 0;
-- +goose StatementEnd

-- +goose Down
-- The projection hurts nobody.
SELECT 1;
