-- +goose Up

-- The change feed of internal/access: whoever holds a grant or a capability older
-- than the version told here must load it again. Written by triggers, so that no
-- code path can forget it.
CREATE SEQUENCE access_version;

CREATE TABLE access_changes (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    application_id uuid,
    capability_id  text COLLATE "C",
    version        bigint NOT NULL,
    changed_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Tells a reader what became visible since its last snapshot, however long the
    -- writing transaction stayed open.
    xid            xid8 NOT NULL DEFAULT pg_current_xact_id(),
    CHECK ((application_id IS NULL) <> (capability_id IS NULL))
);
CREATE INDEX access_changes_changed_at ON access_changes (changed_at);
CREATE INDEX access_changes_xid ON access_changes (xid);

-- +goose StatementBegin
CREATE FUNCTION raise_row_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.version := nextval('access_version');
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION tell_application_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO deleted_applications (id, owner_id, name) VALUES (OLD.id, OLD.owner_id, OLD.name);
        INSERT INTO access_changes (application_id, version) VALUES (OLD.id, nextval('access_version'));
    ELSE
        INSERT INTO access_changes (application_id, version) VALUES (NEW.id, NEW.version);
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION tell_capability_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO access_changes (capability_id, version) VALUES (NEW.id, NEW.version);
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- Keys and bindings: one raise per statement, however many rows it touched. The
-- update locks the application's row, so versions of one application are ordered.
-- +goose StatementBegin
CREATE FUNCTION raise_application_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE applications SET version = 0 WHERE id IN (SELECT application_id FROM touched);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER raise_version BEFORE INSERT OR UPDATE ON applications
    FOR EACH ROW EXECUTE FUNCTION raise_row_version();
CREATE TRIGGER tell_change AFTER UPDATE OR DELETE ON applications
    FOR EACH ROW EXECUTE FUNCTION tell_application_change();

CREATE TRIGGER raise_version BEFORE INSERT OR UPDATE ON capabilities
    FOR EACH ROW EXECUTE FUNCTION raise_row_version();
CREATE TRIGGER tell_change AFTER INSERT OR UPDATE ON capabilities
    FOR EACH ROW EXECUTE FUNCTION tell_capability_change();

CREATE TRIGGER key_added AFTER INSERT ON access_keys REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_application_version();
CREATE TRIGGER key_changed AFTER UPDATE ON access_keys REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_application_version();
CREATE TRIGGER key_removed AFTER DELETE ON access_keys REFERENCING OLD TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_application_version();
CREATE TRIGGER binding_added AFTER INSERT ON application_capabilities REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_application_version();
CREATE TRIGGER binding_removed AFTER DELETE ON application_capabilities REFERENCING OLD TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_application_version();

-- +goose Down
DROP TRIGGER binding_removed ON application_capabilities;
DROP TRIGGER binding_added ON application_capabilities;
DROP TRIGGER key_removed ON access_keys;
DROP TRIGGER key_changed ON access_keys;
DROP TRIGGER key_added ON access_keys;
DROP TRIGGER tell_change ON capabilities;
DROP TRIGGER raise_version ON capabilities;
DROP TRIGGER tell_change ON applications;
DROP TRIGGER raise_version ON applications;
DROP FUNCTION raise_application_version, tell_capability_change, tell_application_change, raise_row_version;
DROP TABLE access_changes;
DROP SEQUENCE access_version;
