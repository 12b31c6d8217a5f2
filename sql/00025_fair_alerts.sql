-- +goose Up

-- How much of what an account may have sent by hand, tests of its alerts and deliveries sent again, is used up: until
-- free_at. Of a subject, the account or one destination of it.
CREATE TABLE alert_sends (
    subject text PRIMARY KEY,
    free_at timestamptz NOT NULL
);

-- What is being attempted is counted before each attempt, however much waits.
CREATE INDEX alert_deliveries_claimed ON alert_deliveries (claimed_until) WHERE status = 'pending' AND claimed_until IS NOT NULL;

-- +goose Down
DROP INDEX alert_deliveries_claimed;
DROP TABLE alert_sends;
