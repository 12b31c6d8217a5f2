-- +goose Up

-- An application has up to five keys. The first one, which is *the* Access Key of the application, stays
-- the row of access_keys, where processes of the version before find it, show it and replace it; the others are in a
-- table of their own, and to those processes unknown. No key is in both tables, so nothing has to be kept in
-- step. What the version before writes into access_keys gets the new columns by their defaults, and by the trigger
-- below. It knows nothing of the end or the addresses of a first key: these hold once every gateway is replaced.
ALTER TABLE access_keys
    ADD COLUMN id            uuid NOT NULL DEFAULT gen_random_uuid(),
    ADD COLUMN name          text NOT NULL DEFAULT 'default',
    ADD COLUMN expires_at    timestamptz,                 -- from then on refused; NULL: never
    ADD COLUMN allowed_cidrs cidr[] NOT NULL DEFAULT '{}', -- where it may be used from; empty: anywhere
    ADD COLUMN updated_at    timestamptz NOT NULL DEFAULT now();
CREATE UNIQUE INDEX access_keys_id ON access_keys (id);

CREATE TABLE additional_access_keys (
    id             uuid PRIMARY KEY,
    application_id uuid NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    name           text NOT NULL,
    lookup         bytea NOT NULL UNIQUE,
    sealed         bytea NOT NULL,
    mask           text NOT NULL,
    expires_at     timestamptz,
    allowed_cidrs  cidr[] NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX additional_access_keys_application ON additional_access_keys (application_id);

CREATE VIEW application_keys AS
    SELECT application_id, id, true AS first, name, lookup, sealed, mask, expires_at, allowed_cidrs, created_at, updated_at
    FROM access_keys
    UNION ALL
    SELECT application_id, id, false, name, lookup, sealed, mask, expires_at, allowed_cidrs, created_at, updated_at
    FROM additional_access_keys;

-- A replaced key is another one, whoever replaces it: calls name the key they were made with. It keeps the name and
-- the addresses, and the end if that is still to come.
-- +goose StatementBegin
CREATE FUNCTION name_replaced_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id = OLD.id THEN
        NEW.id := gen_random_uuid();
    END IF;
    IF NEW.expires_at <= clock_timestamp() THEN
        NEW.expires_at := NULL;
    END IF;
    NEW.updated_at := greatest(date_trunc('milliseconds', clock_timestamp()),
                               date_trunc('milliseconds', OLD.updated_at) + interval '1 millisecond');
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER name_replaced_key BEFORE UPDATE OF lookup ON access_keys
    FOR EACH ROW WHEN (NEW.lookup <> OLD.lookup) EXECUTE FUNCTION name_replaced_key();
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON access_keys
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON additional_access_keys
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();

-- The change feed, as for access_keys (00004, 00006).
CREATE TRIGGER key_added AFTER INSERT ON additional_access_keys REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_application_version();
CREATE TRIGGER key_changed AFTER UPDATE ON additional_access_keys REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT WHEN (NOT is_resealing()) EXECUTE FUNCTION raise_application_version();
CREATE TRIGGER key_removed AFTER DELETE ON additional_access_keys REFERENCING OLD TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_application_version();

-- +goose Down
DROP VIEW application_keys;
DROP TABLE additional_access_keys;
DROP TRIGGER distinguish_updated_at ON access_keys;
DROP TRIGGER name_replaced_key ON access_keys;
DROP FUNCTION name_replaced_key;
ALTER TABLE access_keys
    DROP COLUMN id, DROP COLUMN name, DROP COLUMN expires_at, DROP COLUMN allowed_cidrs, DROP COLUMN updated_at;
