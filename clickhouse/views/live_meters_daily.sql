CREATE OR REPLACE VIEW live_meters_daily
(
    application_id UUID COMMENT 'Application',
    day            Date COMMENT 'Beijing day of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    upstream_model LowCardinality(String) COMMENT 'Model that used it, as the answer names it; other beyond 50 names without a price, an owner, capability and day',
    tier           LowCardinality(String) COMMENT 'Tier of service, as the answer names it; empty for the ordinary one',
    band           UInt32 COMMENT 'The largest of 128000, 200000, 256000, 272000 and 1000000 that the input of each of the calls is above; 0 for none',
    meter          LowCardinality(String) COMMENT 'What was used; calls counts those that used the model first, calls_beside those that used it beside another',
    amount         Int64 COMMENT 'How much of it'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT application_id, day, model, upstream_model, tier, band, meter, sum(m.n) AS amount
FROM (
    SELECT application_id, day, model, upstream_model, toLowCardinality('') AS tier, toUInt32(0) AS band, toLowCardinality(pair.1) AS meter, pair.2 AS n
    FROM tokens_daily ARRAY JOIN [('calls', counted), ('input', input), ('output', output), ('cached_input', cached), ('cache_write', cache_write), ('reasoning', reasoning)] AS pair
    WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
    UNION ALL
    SELECT application_id, day, model, upstream_model, tier, band, meter, amount AS n
    FROM meters_daily
    WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
) AS m
GROUP BY application_id, day, model, upstream_model, tier, band, meter
HAVING amount != 0
COMMENT 'What calls of existing applications used, by meter, per Beijing day, model, model that used it, tier and band';
