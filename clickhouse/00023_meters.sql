-- What a call used beyond five numbers of one model: lines, each of a model at a tier of service and a band of input, with a
-- number per meter. Calls of which the five numbers say all have none, and cost what they cost before. The rollups have the
-- lines of the others, and take their five numbers away from where tokens_daily and tokens_hourly have them: the two
-- together are what was used by model, tier and band, and nothing of before is to be filled in.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls
    ADD COLUMN IF NOT EXISTS `used.model` Array(LowCardinality(String)) COMMENT 'Models that the call used, one for each meter of each line; empty when the five numbers of tokens say all' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS `used.tier` Array(LowCardinality(String)) COMMENT 'Tier of service of each, as the answer names it; empty for the ordinary one' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS `used.band` Array(UInt32) COMMENT 'Input tokens that the input of its line was above: 128000, 200000, 256000, 272000 or 1000000; 0 for none' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS `used.meter` Array(LowCardinality(String)) COMMENT 'What was used: input, cached_input, cache_write_1h, output, web_searches and others' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS `used.amount` Array(UInt64) COMMENT 'How much of it' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS answer_id String COMMENT 'The answer''s own id; empty when it has none' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS reported_cost Nullable(Decimal(38, 12)) COMMENT 'What the provider says that it charges for the call; null when it does not' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS reported_currency LowCardinality(String) COMMENT 'Currency of reported_cost, as the provider names it',
    COMMENT COLUMN usage_state 'reported, partial (interrupted: a lower bound), absent, deferred (told elsewhere, later), repeated (an answer of before), unreadable, none (no 2xx answer to a POST); empty when not collected';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS meters_daily
(
    application_id UUID COMMENT 'Application',
    day            Date COMMENT 'Beijing day of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    upstream_model LowCardinality(String) COMMENT 'Model that used it; other beyond 50 names without a price, an owner, capability and day',
    tier           LowCardinality(String) COMMENT 'Tier of service, as the answer names it; empty for the ordinary one',
    band           UInt32 COMMENT 'Input tokens that the input of the model was above, one of 128000, 200000, 256000, 272000 and 1000000; 0 for none',
    extras         LowCardinality(String) COMMENT 'What the same calls used of the model besides tokens, such as pages or images,web_searches; empty for nothing',
    meter          LowCardinality(String) COMMENT 'What was used; calls counts those that used the model first, calls_beside those that used it beside another',
    amount         SimpleAggregateFunction(sum, Int64) COMMENT 'How much of it; together with that of tokens_daily, of which it is taken away where it stands here',
    PROJECTION of_models
    (
        SELECT day, model, upstream_model, tier, band, extras, meter, sum(amount)
        GROUP BY day, model, upstream_model, tier, band, extras, meter
    )
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(day)
ORDER BY (application_id, day, model, upstream_model, tier, band, extras, meter)
TTL day + INTERVAL 434 DAY
SETTINGS index_granularity = 256, min_age_to_force_merge_seconds = 3600, deduplicate_merge_projection_mode = 'rebuild',
    lightweight_mutation_projection_mode = 'rebuild', non_replicated_deduplication_window = 10000,
    replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
COMMENT 'What calls with usage lines used beyond tokens_daily, per application, Beijing day, model, model that used it, tier, band and meter';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS meters_hourly
(
    application_id UUID COMMENT 'Application',
    hour           DateTime('Asia/Shanghai') COMMENT 'Beijing hour of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    upstream_model LowCardinality(String) COMMENT 'Model that used it; other beyond 50 names without a price, an owner, capability and day',
    tier           LowCardinality(String) COMMENT 'Tier of service, as the answer names it; empty for the ordinary one',
    band           UInt32 COMMENT 'Input tokens that the input of the model was above, one of 128000, 200000, 256000, 272000 and 1000000; 0 for none',
    extras         LowCardinality(String) COMMENT 'What the same calls used of the model besides tokens, such as pages or images,web_searches; empty for nothing',
    meter          LowCardinality(String) COMMENT 'What was used; calls counts those that used the model first, calls_beside those that used it beside another',
    amount         SimpleAggregateFunction(sum, Int64) COMMENT 'How much of it; together with that of tokens_hourly, of which it is taken away where it stands here',
    PROJECTION of_models
    (
        SELECT hour, model, upstream_model, tier, band, extras, meter, sum(amount)
        GROUP BY hour, model, upstream_model, tier, band, extras, meter
    )
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (application_id, hour, model, upstream_model, tier, band, extras, meter)
TTL toDate(hour) + INTERVAL 434 DAY
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, deduplicate_merge_projection_mode = 'rebuild',
    lightweight_mutation_projection_mode = 'rebuild', non_replicated_deduplication_window = 10000,
    replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
COMMENT 'What calls with usage lines used beyond tokens_hourly, per application, Beijing hour, model, model that used it, tier, band and meter';
-- +goose StatementEnd

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS calls_to_meters_daily TO meters_daily AS
SELECT application_id, day, model, line.1 AS upstream_model, line.2 AS tier, line.3 AS band, line.4 AS extras, line.5 AS meter, sum(line.6) AS amount
FROM (
    SELECT application_id, toDate(start_time) AS day, model, arrayJoin(arrayConcat(
        arrayMap((m, t, b, extras, name, n) -> (toString(m), toString(t), b, extras, toString(name), toInt64(n)), c.`used.model`, c.`used.tier`, c.`used.band`, extras_of, c.`used.meter`, c.`used.amount`),
        arrayMap((m, t, b, extras, i) -> (toString(m), toString(t), b, extras, if(i = 1, 'calls', 'calls_beside'),
                toInt64(i = 1 OR m != c.`used.model`[i - 1] OR t != c.`used.tier`[i - 1] OR b != c.`used.band`[i - 1])),
            c.`used.model`, c.`used.tier`, c.`used.band`, extras_of, arrayEnumerate(c.`used.model`)),
        [
            (toString(c.upstream_model), '', toUInt32(0), '', 'calls', -toInt64(isNotNull(c.input_tokens) OR isNotNull(c.output_tokens))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'input', -toInt64(ifNull(c.input_tokens, 0))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'output', -toInt64(ifNull(c.output_tokens, 0))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'cached_input', -toInt64(ifNull(c.cached_tokens, 0))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'cache_write', -toInt64(ifNull(c.cache_write_tokens, 0))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'reasoning', -toInt64(ifNull(c.reasoning_tokens, 0)))
        ])) AS line
    FROM (
        SELECT *, arrayMap((m, t, b) -> arrayStringConcat(arraySort(arrayDistinct(arrayMap(name -> toString(name), arrayFilter(
                (name, of_m, of_t, of_b) -> of_m = m AND of_t = t AND of_b = b AND NOT match(name, '^(input|output|cache|reasoning)'),
                `used.meter`, `used.model`, `used.tier`, `used.band`)))), ','), `used.model`, `used.tier`, `used.band`) AS extras_of
        FROM calls
        WHERE notEmpty(`used.meter`) AND usage_state NOT IN ('', 'none')
    ) AS c
)
GROUP BY application_id, day, model, upstream_model, tier, band, extras, meter
HAVING amount != 0;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS calls_to_meters_hourly TO meters_hourly AS
SELECT application_id, hour, model, line.1 AS upstream_model, line.2 AS tier, line.3 AS band, line.4 AS extras, line.5 AS meter, sum(line.6) AS amount
FROM (
    SELECT application_id, toStartOfHour(start_time) AS hour, model, arrayJoin(arrayConcat(
        arrayMap((m, t, b, extras, name, n) -> (toString(m), toString(t), b, extras, toString(name), toInt64(n)), c.`used.model`, c.`used.tier`, c.`used.band`, extras_of, c.`used.meter`, c.`used.amount`),
        arrayMap((m, t, b, extras, i) -> (toString(m), toString(t), b, extras, if(i = 1, 'calls', 'calls_beside'),
                toInt64(i = 1 OR m != c.`used.model`[i - 1] OR t != c.`used.tier`[i - 1] OR b != c.`used.band`[i - 1])),
            c.`used.model`, c.`used.tier`, c.`used.band`, extras_of, arrayEnumerate(c.`used.model`)),
        [
            (toString(c.upstream_model), '', toUInt32(0), '', 'calls', -toInt64(isNotNull(c.input_tokens) OR isNotNull(c.output_tokens))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'input', -toInt64(ifNull(c.input_tokens, 0))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'output', -toInt64(ifNull(c.output_tokens, 0))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'cached_input', -toInt64(ifNull(c.cached_tokens, 0))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'cache_write', -toInt64(ifNull(c.cache_write_tokens, 0))),
            (toString(c.upstream_model), '', toUInt32(0), '', 'reasoning', -toInt64(ifNull(c.reasoning_tokens, 0)))
        ])) AS line
    FROM (
        SELECT *, arrayMap((m, t, b) -> arrayStringConcat(arraySort(arrayDistinct(arrayMap(name -> toString(name), arrayFilter(
                (name, of_m, of_t, of_b) -> of_m = m AND of_t = t AND of_b = b AND NOT match(name, '^(input|output|cache|reasoning)'),
                `used.meter`, `used.model`, `used.tier`, `used.band`)))), ','), `used.model`, `used.tier`, `used.band`) AS extras_of
        FROM calls
        WHERE notEmpty(`used.meter`) AND usage_state NOT IN ('', 'none')
    ) AS c
)
GROUP BY application_id, hour, model, upstream_model, tier, band, extras, meter
HAVING amount != 0;
-- +goose StatementEnd

-- +goose Down
-- The columns and tables hurt nobody.
SELECT 1;
