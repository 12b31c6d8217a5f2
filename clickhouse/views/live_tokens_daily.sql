CREATE OR REPLACE VIEW live_tokens_daily
(
    application_id    UUID COMMENT 'Application',
    day               Date COMMENT 'Beijing day of the calls start',
    model             LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    upstream_model    LowCardinality(String) COMMENT 'Model that answered, as the answer names it; other beyond 50 names a capability and day',
    reported          Int64 COMMENT 'Calls whose answer ended and reported tokens',
    partial           Int64 COMMENT 'Calls whose answer was interrupted: their tokens are a lower bound',
    absent            Int64 COMMENT 'Calls whose answer reports no tokens',
    unreadable        Int64 COMMENT 'Calls whose answer''s report cannot be read',
    streamed          Int64 COMMENT 'Calls of any of these states whose answer was an event stream',
    streamed_absent   Int64 COMMENT 'Event streams that ended and report no tokens',
    counted           Int64 COMMENT 'Calls with input or output tokens',
    input_tokens      Nullable(Int64) COMMENT 'Input tokens, cached and cache-written ones included; null when no call reports them',
    output_tokens     Nullable(Int64) COMMENT 'Output tokens, reasoning included; null when no call reports them',
    cached_tokens     Nullable(Int64) COMMENT 'Input tokens read from the provider''s cache; null when no call reports them',
    cache_write_tokens Nullable(Int64) COMMENT 'Input tokens written to the provider''s cache; null when no call reports them',
    reasoning_tokens  Nullable(Int64) COMMENT 'Output tokens spent on reasoning; null when no call reports them'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    application_id, day, model, upstream_model,
    sum(t.reported) AS reported, sum(t.partial) AS partial, sum(t.absent) AS absent, sum(t.unreadable) AS unreadable,
    sum(t.streamed) AS streamed, sum(t.streamed_absent) AS streamed_absent, sum(t.counted) AS counted,
    if(sum(t.input_calls) > 0, sum(t.input), NULL) AS input_tokens,
    if(sum(t.output_calls) > 0, sum(t.output), NULL) AS output_tokens,
    if(sum(t.cached_calls) > 0, sum(t.cached), NULL) AS cached_tokens,
    if(sum(t.cache_write_calls) > 0, sum(t.cache_write), NULL) AS cache_write_tokens,
    if(sum(t.reasoning_calls) > 0, sum(t.reasoning), NULL) AS reasoning_tokens
FROM tokens_daily AS t
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, day, model, upstream_model
COMMENT 'Tokens of existing applications per Beijing day, model and model that answered';
