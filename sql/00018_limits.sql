-- +goose Up

-- What an application may use at most, as its owner has set it; NULL is no limit. Minutes are
-- sliding, days are Beijing days. What holds is the lesser of this and of the ceiling.
CREATE TABLE application_limits (
    application_id      uuid PRIMARY KEY REFERENCES applications (id) ON DELETE CASCADE,
    requests_per_minute bigint CHECK (requests_per_minute BETWEEN 1 AND 1000000000000),
    tokens_per_minute   bigint CHECK (tokens_per_minute BETWEEN 1 AND 1000000000000),
    concurrency         bigint CHECK (concurrency BETWEEN 1 AND 1000000000000),
    calls_per_day       bigint CHECK (calls_per_day BETWEEN 1 AND 1000000000000),
    tokens_per_day      bigint CHECK (tokens_per_day BETWEEN 1 AND 1000000000000),
    updated_by          text NOT NULL,
    updated_at          timestamptz NOT NULL DEFAULT now()
);

-- Ceilings that administrators set: for every application, for each of an owner, for one. Of each limit the ceiling
-- of the application holds, else the owner's, else that for all; NULL leaves it to the next.
CREATE TABLE limit_ceilings (
    id                  uuid PRIMARY KEY,
    scope               text NOT NULL CHECK (scope IN ('all', 'owner', 'application')),
    owner_id            uuid UNIQUE REFERENCES users (id) ON DELETE CASCADE,
    application_id      uuid UNIQUE REFERENCES applications (id) ON DELETE CASCADE,
    requests_per_minute bigint CHECK (requests_per_minute BETWEEN 1 AND 1000000000000),
    tokens_per_minute   bigint CHECK (tokens_per_minute BETWEEN 1 AND 1000000000000),
    concurrency         bigint CHECK (concurrency BETWEEN 1 AND 1000000000000),
    calls_per_day       bigint CHECK (calls_per_day BETWEEN 1 AND 1000000000000),
    tokens_per_day      bigint CHECK (tokens_per_day BETWEEN 1 AND 1000000000000),
    updated_by          text NOT NULL,
    updated_at          timestamptz NOT NULL DEFAULT now(),
    CHECK ((scope = 'owner') = (owner_id IS NOT NULL) AND (scope = 'application') = (application_id IS NOT NULL))
);
CREATE UNIQUE INDEX limit_ceilings_for_all ON limit_ceilings (scope) WHERE scope = 'all';

-- Another value with every change of either, whoever makes it: gateways ask for this one row every second, as
-- readers of the price book do for theirs (00014). Random, so that no database that was put back says the same of
-- other limits.
CREATE TABLE limits_version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO limits_version DEFAULT VALUES;

-- +goose StatementBegin
CREATE FUNCTION raise_limits_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE limits_version SET version = gen_random_uuid();
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION raise_limits_version_of_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM removed) THEN
        UPDATE limits_version SET version = gen_random_uuid();
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- Deletes are told apart: each application that goes deletes its limits, which most never had.
CREATE TRIGGER raise_version AFTER INSERT OR UPDATE OR TRUNCATE ON application_limits
    FOR EACH STATEMENT EXECUTE FUNCTION raise_limits_version();
CREATE TRIGGER raise_version_of_removed AFTER DELETE ON application_limits REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION raise_limits_version_of_removed();
CREATE TRIGGER raise_version AFTER INSERT OR UPDATE OR TRUNCATE ON limit_ceilings
    FOR EACH STATEMENT EXECUTE FUNCTION raise_limits_version();
CREATE TRIGGER raise_version_of_removed AFTER DELETE ON limit_ceilings REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION raise_limits_version_of_removed();
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON limit_ceilings
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();

-- An application's limits are a part of it: editing them is an edit of the application, whose updated_at says so.
-- +goose StatementBegin
CREATE FUNCTION tell_limits_edit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE applications SET updated_at = clock_timestamp() WHERE id = NEW.application_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER tell_edit AFTER INSERT OR UPDATE ON application_limits
    FOR EACH ROW EXECUTE FUNCTION tell_limits_edit();

-- +goose Down
DROP TABLE application_limits, limit_ceilings, limits_version;
DROP FUNCTION tell_limits_edit, raise_limits_version_of_removed, raise_limits_version;
