CREATE OR REPLACE VIEW live_keys_daily
(
    application_id UUID COMMENT 'Application',
    key_id         UUID COMMENT 'Key of the application, by its id; calls of before keys were told apart are not here',
    day            Date COMMENT 'Beijing day of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    upstream_model LowCardinality(String) COMMENT 'Model that used it, as the answer names it; other beyond 50 names without a price, an owner, capability and day; empty for total and failed',
    tier           LowCardinality(String) COMMENT 'Tier of service, as the answer names it; empty for the ordinary one',
    band           UInt32 COMMENT 'The largest of 128000, 200000, 256000, 272000 and 1000000 that the input of each of the calls is above; 0 for none',
    meter          LowCardinality(String) COMMENT 'total for all calls, failed for those without success; else as in live_meters_daily',
    amount         Int64 COMMENT 'How much of it'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT application_id, key_id, day, model, upstream_model, tier, band, meter, sum(k.amount) AS amount
FROM keys_daily AS k
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, key_id, day, model, upstream_model, tier, band, meter
HAVING amount != 0
COMMENT 'Calls of existing applications and what they used, by meter, per key, Beijing day, model, model that used it, tier and band';
