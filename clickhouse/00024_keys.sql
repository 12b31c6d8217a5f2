-- What each key of an application used, by Beijing day. Unlike meters_daily it is complete in itself, so that one question answers
-- for a key: nothing is taken away, for nothing else stands beside it. Past days are filled as they are compared with their calls.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS keys_daily
(
    application_id UUID COMMENT 'Application',
    key_id         UUID COMMENT 'Key of the application, by its id',
    day            Date COMMENT 'Beijing day of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    upstream_model LowCardinality(String) COMMENT 'Model that used it; other beyond 50 names without a price, an owner, capability and day; empty for total and failed',
    tier           LowCardinality(String) COMMENT 'Tier of service, as the answer names it; empty for the ordinary one',
    band           UInt32 COMMENT 'Input tokens that the input of the model was above, one of 128000, 200000, 256000, 272000 and 1000000; 0 for none',
    extras         LowCardinality(String) COMMENT 'What the same calls used of the model besides tokens, such as pages or images,web_searches; empty for nothing',
    meter          LowCardinality(String) COMMENT 'What was used; calls counts those that used the model first, calls_beside those that used it beside another, total all calls and failed those without success',
    amount         SimpleAggregateFunction(sum, Int64) COMMENT 'How much of it'
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(day)
ORDER BY (application_id, key_id, day, model, upstream_model, tier, band, extras, meter)
TTL day + INTERVAL 434 DAY
SETTINGS index_granularity = 256, min_age_to_force_merge_seconds = 3600, non_replicated_deduplication_window = 10000,
    replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
COMMENT 'Calls and what they used, per application, key, Beijing day, model, model that used it, tier, band and meter';
-- +goose StatementEnd

-- Calls whose lines look alike are added up before they become a row per meter: most have none.
-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS calls_to_keys_daily TO keys_daily AS
SELECT application_id, key_id, day, model, line.1 AS upstream_model, line.2 AS tier, line.3 AS band, line.4 AS extras, line.5 AS meter, sum(line.6) AS amount
FROM (
    SELECT application_id, key_id, day, model, arrayJoin(arrayConcat(
        [('', '', toUInt32(0), '', 'total', total), ('', '', toUInt32(0), '', 'failed', failed)],
        if(empty(meters), [
            (of_model, '', toUInt32(0), '', 'calls', counted),
            (of_model, '', toUInt32(0), '', 'input', input),
            (of_model, '', toUInt32(0), '', 'output', output),
            (of_model, '', toUInt32(0), '', 'cached_input', cached),
            (of_model, '', toUInt32(0), '', 'cache_write', cache_write),
            (of_model, '', toUInt32(0), '', 'reasoning', reasoning)
        ], []),
        arrayMap((m, t, b, extras, name, n) -> (m, t, b, extras, name, toInt64(n)), models, tiers, bands, extras_of, meters, amounts),
        arrayMap((m, t, b, extras, i) -> (m, t, b, extras, if(i = 1, 'calls', 'calls_beside'),
                if(i = 1 OR m != models[i - 1] OR t != tiers[i - 1] OR b != bands[i - 1], total, 0)),
            models, tiers, bands, extras_of, arrayEnumerate(models))
        )) AS line
    FROM (
        SELECT *, arrayMap((m, t, b) -> arrayStringConcat(arraySort(arrayDistinct(arrayFilter(
                (name, of_m, of_t, of_b) -> of_m = m AND of_t = t AND of_b = b AND NOT match(name, '^(input|output|cache|reasoning)'),
                meters, models, tiers, bands))), ','), models, tiers, bands) AS extras_of
        FROM (
            WITH c.usage_state NOT IN ('', 'none') AS told
            SELECT application_id, key_id, toDate(start_time) AS day, model,
                if(told, toString(c.upstream_model), '') AS of_model,
                if(told, CAST(c.`used.model`, 'Array(String)'), []) AS models,
                if(told, CAST(c.`used.tier`, 'Array(String)'), []) AS tiers,
                if(told, c.`used.band`, []) AS bands,
                if(told, CAST(c.`used.meter`, 'Array(String)'), []) AS meters,
                sumForEach(if(told, c.`used.amount`, [])) AS amounts,
                toInt64(count()) AS total,
                toInt64(countIf(NOT c.success)) AS failed,
                toInt64(countIf(told AND (isNotNull(c.input_tokens) OR isNotNull(c.output_tokens)))) AS counted,
                toInt64(sum(if(told, ifNull(c.input_tokens, 0), 0))) AS input,
                toInt64(sum(if(told, ifNull(c.output_tokens, 0), 0))) AS output,
                toInt64(sum(if(told, ifNull(c.cached_tokens, 0), 0))) AS cached,
                toInt64(sum(if(told, ifNull(c.cache_write_tokens, 0), 0))) AS cache_write,
                toInt64(sum(if(told, ifNull(c.reasoning_tokens, 0), 0))) AS reasoning
            FROM calls AS c
            WHERE c.key_id != toUUID('00000000-0000-0000-0000-000000000000')
            GROUP BY application_id, key_id, day, model, of_model, models, tiers, bands, meters
        )
    )
)
GROUP BY application_id, key_id, day, model, upstream_model, tier, band, extras, meter
HAVING amount != 0;
-- +goose StatementEnd

-- +goose Down
-- The table hurts nobody.
SELECT 1;
