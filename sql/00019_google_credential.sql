-- +goose Up

-- A capability's key may go to its upstream as Google takes it.
ALTER TABLE capabilities DROP CONSTRAINT capabilities_upstream_auth_check;
ALTER TABLE capabilities ADD CONSTRAINT capabilities_upstream_auth_check
    CHECK (upstream_auth IN ('bearer', 'x-api-key', 'api-key', 'x-goog-api-key'));

-- +goose Down
-- A style more hurts nobody.
SELECT 1;
