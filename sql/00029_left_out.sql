-- +goose Up

-- Alerts of the kind upstreamLeftOut are enabled by watched, not by enabled: versions that do not know the kind would evaluate
-- them as something else, and read the id of a capability as that of an application.
ALTER TABLE alert_rules ADD COLUMN watched boolean NOT NULL DEFAULT false;
ALTER TABLE alert_rules DROP CONSTRAINT alert_rules_kind_check;
ALTER TABLE alert_rules
    ADD CONSTRAINT alert_rules_kind_check CHECK (kind IN ('failureRate', 'noCalls', 'p95', 'tokens', 'cost', 'limit', 'keyExpiry', 'statisticsBehind', 'spoolStuck', 'dayClosed', 'upstreamLeftOut')),
    ADD CONSTRAINT alert_rules_watched CHECK (CASE WHEN kind = 'upstreamLeftOut' THEN NOT enabled ELSE NOT watched END);

-- +goose Down
DELETE FROM alert_rules WHERE kind = 'upstreamLeftOut';
ALTER TABLE alert_rules DROP CONSTRAINT alert_rules_watched, DROP CONSTRAINT alert_rules_kind_check, DROP COLUMN watched;
ALTER TABLE alert_rules
    ADD CONSTRAINT alert_rules_kind_check CHECK (kind IN ('failureRate', 'noCalls', 'p95', 'tokens', 'cost', 'limit', 'keyExpiry', 'statisticsBehind', 'spoolStuck', 'dayClosed'));
