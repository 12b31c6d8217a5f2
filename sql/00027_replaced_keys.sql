-- +goose Up

-- When an additional key was replaced as the application's Access Key; NULL: it never was that. Its end is meant, and
-- nobody has to be warned of it.
ALTER TABLE additional_access_keys ADD COLUMN replaced_at timestamptz;

CREATE OR REPLACE VIEW application_keys AS
    SELECT application_id, id, true AS first, name, lookup, sealed, mask, expires_at, allowed_cidrs, created_at, updated_at,
           NULL::timestamptz AS replaced_at
    FROM access_keys
    UNION ALL
    SELECT application_id, id, false, name, lookup, sealed, mask, expires_at, allowed_cidrs, created_at, updated_at, replaced_at
    FROM additional_access_keys;

-- +goose Down
DROP VIEW application_keys;
CREATE VIEW application_keys AS
    SELECT application_id, id, true AS first, name, lookup, sealed, mask, expires_at, allowed_cidrs, created_at, updated_at
    FROM access_keys
    UNION ALL
    SELECT application_id, id, false, name, lookup, sealed, mask, expires_at, allowed_cidrs, created_at, updated_at
    FROM additional_access_keys;
ALTER TABLE additional_access_keys DROP COLUMN replaced_at;
