CREATE OR REPLACE VIEW live_models
(
    application_id UUID COMMENT 'Application',
    model          LowCardinality(String) COMMENT 'Capability identifier; empty when the caller named none that exists',
    first_used     DateTime64(3, 'Asia/Shanghai') COMMENT 'Start of the first call, Beijing time',
    last_used      DateTime64(3, 'Asia/Shanghai') COMMENT 'Start of the last call, Beijing time'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT application_id, model, min(m.first_used) AS first_used, max(m.last_used) AS last_used
FROM app_models AS m
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, model
COMMENT 'Models every existing application has ever called, however long ago';
