CREATE OR REPLACE VIEW live_days_closed
(
    application_id     UUID COMMENT 'Application; the nil id stands for the day itself and for what may be anybody''s',
    day                Date COMMENT 'Beijing day of the calls start',
    revision           UInt32 COMMENT 'Of the last closing, from 1; a day that calls came late to is closed again',
    user_id            UUID COMMENT 'Owner of the application when the day was closed',
    closed_at          DateTime64(3, 'Asia/Shanghai') COMMENT 'When the day was closed, Beijing time',
    calls              Int64 COMMENT 'Calls',
    successes          Int64 COMMENT 'Successful calls',
    failures           Int64 COMMENT 'Failed calls',
    duration_ms        Int64 COMMENT 'Sum of durations in milliseconds',
    reported           Int64 COMMENT 'Calls whose answer ended and reported tokens',
    partial            Int64 COMMENT 'Calls whose answer was interrupted: their tokens are a lower bound',
    absent             Int64 COMMENT 'Calls whose answer reports no tokens',
    unreadable         Int64 COMMENT 'Calls whose answer''s report cannot be read',
    input_tokens       Nullable(Int64) COMMENT 'Input tokens, cached and cache-written ones included; null when no call reports them',
    output_tokens      Nullable(Int64) COMMENT 'Output tokens, reasoning included; null when no call reports them',
    cached_tokens      Nullable(Int64) COMMENT 'Input tokens read from the provider''s cache; null when no call reports them',
    cache_write_tokens Nullable(Int64) COMMENT 'Input tokens written to the provider''s cache; null when no call reports them',
    reasoning_tokens   Nullable(Int64) COMMENT 'Output tokens spent on reasoning; null when no call reports them',
    currencies         Array(String) COMMENT 'Currencies of the prices that held',
    amounts            Array(Decimal(38, 10)) COMMENT 'Estimated cost in each of these, by the prices of when the day was closed',
    unpriced_calls     Int64 COMMENT 'Calls with tokens for which no price held',
    missing_calls      Int64 COMMENT 'Calls known to be missing; of the nil id those that may be anybody''s',
    missing_unknown    Bool COMMENT 'A spool was given up of which nobody knows how many calls it held; of the nil id only'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    application_id, day, revision, user_id, closed_at, calls, successes, calls - successes AS failures, duration_ms,
    reported, partial, absent, unreadable, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
    currencies, amounts, unpriced_calls, missing_calls, missing_unknown
FROM
(
    SELECT *, max(d.revision) OVER (PARTITION BY d.day) AS newest
    FROM days_closed AS d FINAL
)
WHERE revision = newest AND application_id NOT IN (SELECT application_id FROM deleted_applications)
COMMENT 'Figures of each closed Beijing day per existing application, as the last closing found them';
