-- +goose Up

-- `callgate rotate-keys` seals the same secrets again under another encryption key. Nobody's grant or
-- capability changes by that, so it raises no version and wakes no gateway. It says so itself, for
-- its own transactions (SET LOCAL callgate.resealing); any other update of these columns is told as before.
-- +goose StatementBegin
CREATE FUNCTION is_resealing() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(current_setting('callgate.resealing', true), '') = 'on'
$$;
-- +goose StatementEnd

DROP TRIGGER key_changed ON access_keys;
CREATE TRIGGER key_changed AFTER UPDATE ON access_keys REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT WHEN (NOT is_resealing()) EXECUTE FUNCTION raise_application_version();

DROP TRIGGER raise_version ON capabilities;
DROP TRIGGER tell_change ON capabilities;
CREATE TRIGGER raise_version BEFORE INSERT OR UPDATE ON capabilities
    FOR EACH ROW WHEN (NOT is_resealing()) EXECUTE FUNCTION raise_row_version();
CREATE TRIGGER tell_change AFTER INSERT OR UPDATE ON capabilities
    FOR EACH ROW WHEN (NOT is_resealing()) EXECUTE FUNCTION tell_capability_change();

-- +goose Down
DROP TRIGGER tell_change ON capabilities;
DROP TRIGGER raise_version ON capabilities;
DROP TRIGGER key_changed ON access_keys;
CREATE TRIGGER raise_version BEFORE INSERT OR UPDATE ON capabilities
    FOR EACH ROW EXECUTE FUNCTION raise_row_version();
CREATE TRIGGER tell_change AFTER INSERT OR UPDATE ON capabilities
    FOR EACH ROW EXECUTE FUNCTION tell_capability_change();
CREATE TRIGGER key_changed AFTER UPDATE ON access_keys REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_application_version();
DROP FUNCTION is_resealing;
