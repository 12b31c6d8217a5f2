-- +goose Up

-- What a single key may use at most, beneath the limits of its application; NULL is no limit. Keys are rows of two tables
-- (00016), so no foreign key can name them: the triggers below keep step. Processes of the version before do not
-- look at it, and their keys are replaced and deleted as ever.
CREATE TABLE key_limits (
    key_id              uuid PRIMARY KEY,
    requests_per_minute bigint CHECK (requests_per_minute BETWEEN 1 AND 1000000000000),
    tokens_per_minute   bigint CHECK (tokens_per_minute BETWEEN 1 AND 1000000000000),
    concurrency         bigint CHECK (concurrency BETWEEN 1 AND 1000000000000),
    calls_per_day       bigint CHECK (calls_per_day BETWEEN 1 AND 1000000000000),
    tokens_per_day      bigint CHECK (tokens_per_day BETWEEN 1 AND 1000000000000),
    updated_by          text NOT NULL,
    updated_at          timestamptz NOT NULL DEFAULT now()
);

CREATE TRIGGER raise_version AFTER INSERT OR UPDATE OR TRUNCATE ON key_limits
    FOR EACH STATEMENT EXECUTE FUNCTION raise_limits_version();
CREATE TRIGGER raise_version_of_removed AFTER DELETE ON key_limits REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION raise_limits_version_of_removed();

-- The limits go with their key.
-- +goose StatementBegin
CREATE FUNCTION remove_key_limits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM key_limits WHERE key_id = OLD.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- A key that replaces another has the limits of that one. The old one has its own for as long as it stays beside it.
-- +goose StatementBegin
CREATE FUNCTION carry_key_limits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO key_limits (key_id, requests_per_minute, tokens_per_minute, concurrency, calls_per_day, tokens_per_day, updated_by)
        SELECT NEW.id, requests_per_minute, tokens_per_minute, concurrency, calls_per_day, tokens_per_day, updated_by
        FROM key_limits WHERE key_id = OLD.id;
    DELETE FROM key_limits WHERE key_id = OLD.id AND NOT EXISTS (SELECT FROM additional_access_keys WHERE id = OLD.id);
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- Refusals name the key: gateways read its name with its limits.
-- +goose StatementBegin
CREATE FUNCTION raise_limits_version_of_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM key_limits WHERE key_id = NEW.id) THEN
        UPDATE limits_version SET version = gen_random_uuid();
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER remove_limits AFTER DELETE ON access_keys FOR EACH ROW EXECUTE FUNCTION remove_key_limits();
CREATE TRIGGER remove_limits AFTER DELETE ON additional_access_keys FOR EACH ROW EXECUTE FUNCTION remove_key_limits();
CREATE TRIGGER carry_limits AFTER UPDATE ON access_keys
    FOR EACH ROW WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION carry_key_limits();
CREATE TRIGGER tell_name AFTER UPDATE ON access_keys
    FOR EACH ROW WHEN (NEW.name <> OLD.name) EXECUTE FUNCTION raise_limits_version_of_key();
CREATE TRIGGER tell_name AFTER UPDATE ON additional_access_keys
    FOR EACH ROW WHEN (NEW.name <> OLD.name) EXECUTE FUNCTION raise_limits_version_of_key();

-- +goose Down
DROP TRIGGER tell_name ON additional_access_keys;
DROP TRIGGER tell_name ON access_keys;
DROP TRIGGER carry_limits ON access_keys;
DROP TRIGGER remove_limits ON additional_access_keys;
DROP TRIGGER remove_limits ON access_keys;
DROP FUNCTION raise_limits_version_of_key, carry_key_limits, remove_key_limits;
DROP TABLE key_limits;
