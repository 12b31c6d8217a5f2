-- +goose Up

-- Alerts of the kind budget, too, are enabled by watched: versions that do not know the kind would take it for a cost of nothing,
-- and tell that it is resolved.
ALTER TABLE alert_rules DROP CONSTRAINT alert_rules_kind_check, DROP CONSTRAINT alert_rules_period_check, DROP CONSTRAINT alert_rules_watched;
ALTER TABLE alert_rules
    ADD CONSTRAINT alert_rules_kind_check CHECK (kind IN ('failureRate', 'noCalls', 'p95', 'tokens', 'cost', 'limit', 'keyExpiry', 'statisticsBehind', 'spoolStuck', 'dayClosed', 'upstreamLeftOut', 'budget')),
    ADD CONSTRAINT alert_rules_period_check CHECK (period IN ('day', 'month') OR period = 'week' AND kind = 'budget'),
    ADD CONSTRAINT alert_rules_watched CHECK (CASE WHEN kind IN ('upstreamLeftOut', 'budget') THEN NOT enabled ELSE NOT watched END);

-- +goose Down
DELETE FROM alert_rules WHERE kind = 'budget';
ALTER TABLE alert_rules DROP CONSTRAINT alert_rules_kind_check, DROP CONSTRAINT alert_rules_period_check, DROP CONSTRAINT alert_rules_watched;
ALTER TABLE alert_rules
    ADD CONSTRAINT alert_rules_kind_check CHECK (kind IN ('failureRate', 'noCalls', 'p95', 'tokens', 'cost', 'limit', 'keyExpiry', 'statisticsBehind', 'spoolStuck', 'dayClosed', 'upstreamLeftOut')),
    ADD CONSTRAINT alert_rules_period_check CHECK (period IN ('day', 'month')),
    ADD CONSTRAINT alert_rules_watched CHECK (CASE WHEN kind = 'upstreamLeftOut' THEN NOT enabled ELSE NOT watched END);
