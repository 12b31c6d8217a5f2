-- What went to upstreams, by day and capability, for administrators: without it that is read from millions of calls. A
-- projection is part of its table and agrees with it at every moment. Durations are counted by bucket (00002_rollups).
-- Rows of before are filled in the background; until then they are read themselves.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE calls ADD PROJECTION IF NOT EXISTS of_upstreams
    (SELECT toDate(start_time), model, upstream_id, count(), countIf(NOT success), countIf(attempts > 1),
        quantilesTiming(0.4999999, 0.9499999, 0.9899999)(toUInt16(32 * toUInt8(floor(log2(greatest(duration_ms, 32))) - 5) + bitShiftRight(duration_ms, toUInt8(floor(log2(greatest(duration_ms, 32))) - 5)))),
        count(first_byte_ms), sum(ifNull(first_byte_ms, 0)),
        quantilesTimingIf(0.4999999, 0.9499999, 0.9899999)(
            toUInt16(32 * toUInt8(floor(log2(greatest(assumeNotNull(first_byte_ms), 32))) - 5) + bitShiftRight(assumeNotNull(first_byte_ms), toUInt8(floor(log2(greatest(assumeNotNull(first_byte_ms), 32))) - 5))),
            first_byte_ms IS NOT NULL)
    GROUP BY toDate(start_time), model, upstream_id);
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE calls MATERIALIZE PROJECTION of_upstreams SETTINGS mutations_sync = 0;
-- +goose StatementEnd

-- +goose Down
-- The projection hurts nobody.
SELECT 1;
