-- What all applications did together, by day and capability, for administrators, and who called, in that order:
-- projections, which are part of the rollups and agree with them at every moment, whatever is inserted, merged, repaired
-- or swept. Read by application, a month of five thousand is a million histograms. Rows of before are filled in the
-- background; until then they are read.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE usage_daily MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild', lightweight_mutation_projection_mode = 'rebuild';
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE tokens_daily MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild', lightweight_mutation_projection_mode = 'rebuild';
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE usage_daily ADD PROJECTION IF NOT EXISTS of_models
    (SELECT day, model, sum(calls), sum(successes), sum(duration_ms),
        quantilesTimingWeightedArray(0.4999999, 0.9499999, 0.9899999)(durations.1, CAST(durations.2 * 1000, 'Array(UInt64)'))
    GROUP BY day, model);
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE tokens_daily ADD PROJECTION IF NOT EXISTS of_models
    (SELECT day, model, upstream_model, sum(counted), sum(input), sum(output), sum(cached), sum(cache_write), sum(reasoning),
        sum(input_calls), sum(output_calls), sum(cached_calls), sum(cache_write_calls), sum(reasoning_calls),
        sum(reported), sum(partial), sum(absent), sum(unreadable), sum(streamed), sum(streamed_absent)
    GROUP BY day, model, upstream_model);
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE usage_daily ADD PROJECTION IF NOT EXISTS of_callers
    (SELECT day, model, application_id, sum(calls), sum(successes) GROUP BY day, model, application_id);
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE usage_daily MATERIALIZE PROJECTION of_models SETTINGS mutations_sync = 0;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE usage_daily MATERIALIZE PROJECTION of_callers SETTINGS mutations_sync = 0;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE tokens_daily MATERIALIZE PROJECTION of_models SETTINGS mutations_sync = 0;
-- +goose StatementEnd

-- +goose Down
-- The projections hurt nobody.
SELECT 1;
