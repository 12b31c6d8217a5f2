CREATE OR REPLACE VIEW live_usage_hourly
(
    application_id UUID COMMENT 'Application',
    hour           DateTime('Asia/Shanghai') COMMENT 'Beijing hour of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    calls          Int64 COMMENT 'Calls',
    successes      Int64 COMMENT 'Successful calls',
    failures       Int64 COMMENT 'Calls minus successful calls',
    duration_ms    Int64 COMMENT 'Sum of durations in milliseconds'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    application_id, hour, model,
    sum(u.calls) AS calls,
    sum(u.successes) AS successes,
    sum(u.calls) - sum(u.successes) AS failures,
    sum(u.duration_ms) AS duration_ms
FROM usage_hourly AS u
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, hour, model
COMMENT 'Usage of existing applications per Beijing hour and model';
