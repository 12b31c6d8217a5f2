-- +goose Up

-- How much of what an account may have sent by hand, tests of its alerts and deliveries sent again, is used up: until
-- free_at. Of a subject, the account or one destination of it.
CREATE TABLE alert_sends (
    subject text PRIMARY KEY,
    free_at timestamptz NOT NULL
);

-- What is being attempted is counted before each attempt, however much waits.
CREATE INDEX alert_deliveries_claimed ON alert_deliveries (claimed_until) WHERE status = 'pending' AND claimed_until IS NOT NULL;

-- Which secrets what is stored was written with (internal/secret, fit.go): of ACCESS_KEY_PEPPER, and of each of
-- ENCRYPTION_KEYS by its id, what tells it from others and nothing else of it.
CREATE TABLE secret_fingerprints (
    name        text PRIMARY KEY, -- 'pepper', or 'key ' and the id
    fingerprint text NOT NULL,    -- 'lost': of a key that is given up, with what is sealed under it
    noted_at    timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE secret_fingerprints;
DROP INDEX alert_deliveries_claimed;
DROP TABLE alert_sends;
