-- +goose Up

-- How much may be spent in a period: of an application or one of its keys as their owner has set it, of an owner or a capability
-- as administrators have. Of each of these there is at most one a period. Keys are rows of two tables (00016), so no foreign
-- key can name them: the triggers below keep step. Processes of the version before do not look at it.
CREATE TABLE budgets (
    id              uuid PRIMARY KEY,
    scope           text NOT NULL CHECK (scope IN ('application', 'key', 'owner', 'capability')),
    application_id  uuid REFERENCES applications (id) ON DELETE CASCADE, -- of a key, too
    key_id          uuid,
    former_keys     uuid[] NOT NULL DEFAULT '{}',                        -- that the key replaced: their calls count as its own
    owner_id        uuid REFERENCES users (id) ON DELETE CASCADE,
    capability_id   text COLLATE "C" REFERENCES capabilities (id) ON DELETE CASCADE,
    period          text NOT NULL CHECK (period IN ('day', 'week', 'month')),
    amount          numeric(15, 6) NOT NULL CHECK (amount > 0),
    currency        text NOT NULL,
    action          text NOT NULL CHECK (action IN ('warn', 'block')),
    unknown         text NOT NULL CHECK (unknown IN ('allow', 'block')),
    thresholds      smallint[] NOT NULL,
    override_amount numeric(15, 6) CHECK (override_amount > 0),
    override_until  timestamptz,
    override_reason text,
    override_by     text,
    updated_by      text NOT NULL,
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((scope IN ('application', 'key')) = (application_id IS NOT NULL) AND (scope = 'key') = (key_id IS NOT NULL)
        AND (scope = 'owner') = (owner_id IS NOT NULL) AND (scope = 'capability') = (capability_id IS NOT NULL)),
    CHECK (num_nulls(override_amount, override_until, override_reason, override_by) IN (0, 4))
);
CREATE UNIQUE INDEX budgets_of_applications ON budgets (application_id, period) WHERE scope = 'application';
CREATE UNIQUE INDEX budgets_of_keys ON budgets (key_id, period) WHERE scope = 'key';
CREATE UNIQUE INDEX budgets_of_owners ON budgets (owner_id, period) WHERE scope = 'owner';
CREATE UNIQUE INDEX budgets_of_capabilities ON budgets (capability_id, period) WHERE scope = 'capability';
CREATE INDEX budgets_by_application ON budgets (application_id);

-- The thresholds of a period that somebody was told of: each is told once.
CREATE TABLE budget_notices (
    budget_id  uuid NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
    period     date NOT NULL, -- its first day
    threshold  smallint NOT NULL, -- percent; 0: the forecast
    noted_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (budget_id, period, threshold)
);

-- Another value with every change, as limits_version (00018).
CREATE TABLE budgets_version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO budgets_version DEFAULT VALUES;

-- +goose StatementBegin
CREATE FUNCTION raise_budgets_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE budgets_version SET version = gen_random_uuid();
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION raise_budgets_version_of_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM removed) THEN
        UPDATE budgets_version SET version = gen_random_uuid();
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER raise_version AFTER INSERT OR UPDATE OR TRUNCATE ON budgets
    FOR EACH STATEMENT EXECUTE FUNCTION raise_budgets_version();
CREATE TRIGGER raise_version_of_removed AFTER DELETE ON budgets REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION raise_budgets_version_of_removed();

-- +goose StatementBegin
CREATE FUNCTION remove_key_budgets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM budgets WHERE key_id = OLD.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- A key that replaces another goes on with the budgets of that one, and what was spent of them: so does the old one while it
-- stays beside it.
-- +goose StatementBegin
CREATE FUNCTION carry_key_budgets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE budgets SET key_id = NEW.id, former_keys = (ARRAY[OLD.id] || former_keys)[1:50] WHERE key_id = OLD.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER remove_budgets AFTER DELETE ON access_keys FOR EACH ROW EXECUTE FUNCTION remove_key_budgets();
CREATE TRIGGER remove_budgets AFTER DELETE ON additional_access_keys FOR EACH ROW EXECUTE FUNCTION remove_key_budgets();
CREATE TRIGGER carry_budgets AFTER UPDATE ON access_keys
    FOR EACH ROW WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION carry_key_budgets();

-- +goose Down
DROP TRIGGER carry_budgets ON access_keys;
DROP TRIGGER remove_budgets ON additional_access_keys;
DROP TRIGGER remove_budgets ON access_keys;
DROP TABLE budget_notices, budgets, budgets_version;
DROP FUNCTION remove_key_budgets, carry_key_budgets, raise_budgets_version_of_removed, raise_budgets_version;
