-- +goose Up

-- What an administrator has disabled. status stays what everything reads, gateways of the version before included: it is
-- 'disabled' while either its owner or an administrator wants it so. While an administrator does, owner_status is
-- what its owner wants; else it is NULL, and status is that.
ALTER TABLE applications
    ADD COLUMN administrator_disabled_at timestamptz,
    ADD COLUMN administrator_disabled_by text, -- e-mail address
    ADD COLUMN administrator_reason      text, -- told to its owner
    ADD COLUMN owner_status              text CHECK (owner_status IN ('active', 'disabled')),
    ADD CONSTRAINT applications_administrator_disabled
        CHECK (num_nonnulls(administrator_disabled_at, administrator_disabled_by, administrator_reason, owner_status) IN (0, 4)
               AND (administrator_disabled_at IS NULL OR status = 'disabled'));

-- A process of the version before knows one status: what it sets is what the owner wants.
-- +goose StatementBegin
CREATE FUNCTION keep_disabled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.owner_status := NEW.status;
    NEW.status := 'disabled';
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER keep_disabled BEFORE UPDATE OF status ON applications
    FOR EACH ROW WHEN (NEW.administrator_disabled_at IS NOT NULL AND NEW.status <> 'disabled') EXECUTE FUNCTION keep_disabled();

-- When somebody last signed in; sessions are forgotten a month after their end. A trigger, so that processes of the
-- version before keep to it too.
ALTER TABLE users ADD COLUMN last_sign_in_at timestamptz;
UPDATE users SET last_sign_in_at = newest.at
    FROM (SELECT user_id, max(created_at) AS at FROM sessions WHERE user_id IS NOT NULL GROUP BY user_id) AS newest
    WHERE id = newest.user_id;

-- +goose StatementBegin
CREATE FUNCTION note_sign_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE users SET last_sign_in_at = greatest(last_sign_in_at, NEW.created_at) WHERE id = NEW.user_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER note_sign_in AFTER INSERT ON sessions
    FOR EACH ROW WHEN (NEW.user_id IS NOT NULL) EXECUTE FUNCTION note_sign_in();

-- The filters of the audit trail: each takes the beginning of a text.
CREATE INDEX audit_log_actor ON audit_log (actor text_pattern_ops, id);
CREATE INDEX audit_log_action ON audit_log (action text_pattern_ops, id);
CREATE INDEX audit_log_target_id ON audit_log (target_id text_pattern_ops, id);
CREATE INDEX audit_log_target_name ON audit_log (lower(target_name) text_pattern_ops, id);
CREATE INDEX audit_log_at ON audit_log (at);

-- +goose Down
DROP INDEX audit_log_actor, audit_log_action, audit_log_target_id, audit_log_target_name, audit_log_at;
DROP TRIGGER note_sign_in ON sessions;
DROP FUNCTION note_sign_in;
ALTER TABLE users DROP COLUMN last_sign_in_at;
DROP TRIGGER keep_disabled ON applications;
DROP FUNCTION keep_disabled;
ALTER TABLE applications
    DROP COLUMN administrator_disabled_at, DROP COLUMN administrator_disabled_by, DROP COLUMN administrator_reason, DROP COLUMN owner_status;
