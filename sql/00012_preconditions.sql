-- +goose Up

-- updated_at names a state of its row: an edit may demand the one its editor has read (If-Match). It is
-- told in milliseconds, so no two states of a row may share one, however quick the edits or wrong the
-- clock. A trigger, so that processes of the version before keep to it too; OF updated_at, so that what
-- is no edit (resealing, versions) leaves it alone.
-- +goose StatementBegin
CREATE FUNCTION distinguish_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := greatest(date_trunc('milliseconds', NEW.updated_at),
                               date_trunc('milliseconds', OLD.updated_at) + interval '1 millisecond');
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON applications
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON capabilities
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON capability_groups
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();

-- +goose Down
DROP TRIGGER distinguish_updated_at ON capability_groups;
DROP TRIGGER distinguish_updated_at ON capabilities;
DROP TRIGGER distinguish_updated_at ON applications;
DROP FUNCTION distinguish_updated_at;
