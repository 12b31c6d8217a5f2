-- +goose Up

-- An application has another owner: what its former owner is told of it ends, since it goes to addresses of their own. A
-- trigger, as the deletion of an application takes its alerts too.
-- +goose StatementBegin
CREATE FUNCTION end_alerts_of_former_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM alert_rules WHERE application_id = NEW.id AND owner_id <> NEW.owner_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER end_alerts AFTER UPDATE OF owner_id ON applications
    FOR EACH ROW WHEN (OLD.owner_id <> NEW.owner_id) EXECUTE FUNCTION end_alerts_of_former_owner();

-- +goose Down
DROP TRIGGER end_alerts ON applications;
DROP FUNCTION end_alerts_of_former_owner;
