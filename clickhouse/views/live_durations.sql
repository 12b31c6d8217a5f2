CREATE OR REPLACE VIEW live_durations
(
    application_id UUID COMMENT 'Application',
    day            Date COMMENT 'Beijing day of the calls start',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    from_ms        Int64 COMMENT 'Shortest duration of the bucket in milliseconds',
    below_ms       Int64 COMMENT 'Durations of the bucket are below this; at most 1/32 above from_ms, or 1 ms',
    middle_ms      Int64 COMMENT 'Middle of the bucket: percentiles of it are within 2 percent, those of from_ms up to 3 percent low',
    calls          Int64 COMMENT 'Calls whose duration is in the bucket'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT application_id, day, model, from_ms, from_ms + bitShiftLeft(toInt64(1), shift) AS below_ms,
    intDiv(from_ms + below_ms, 2) AS middle_ms, sum(n) AS calls
FROM
(
    SELECT application_id, day, model, n,
        toUInt8(if(bucket < 64, 0, intDiv(bucket, 32) - 1)) AS shift,
        bitShiftLeft(toInt64(if(bucket < 64, bucket, bucket % 32 + 32)), shift) AS from_ms
    FROM usage_daily AS u
    ARRAY JOIN u.durations.1 AS bucket, u.durations.2 AS n
    WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
)
GROUP BY application_id, day, model, from_ms, shift
HAVING sum(n) != 0
COMMENT 'How many calls took how long, per Beijing day and model: add them up over any days for percentiles within 2 percent';
