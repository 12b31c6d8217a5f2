-- +goose Up

-- What becomes of a deleted application's calls: hidden from the views of data teams at once,
-- swept soon after (swept_at), and purged of late rows when no spool can hold any.
ALTER TABLE deleted_applications
    ADD COLUMN hidden_at timestamptz,
    ADD COLUMN purged_at timestamptz;
CREATE INDEX deleted_applications_unpurged ON deleted_applications (deleted_at) WHERE purged_at IS NULL;

-- Closed Beijing days whose rollups were compared with their calls.
CREATE TABLE day_checks (
    day        date PRIMARY KEY,
    calls      bigint NOT NULL,
    duplicates bigint NOT NULL,
    checked_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE day_checks;
DROP INDEX deleted_applications_unpurged;
ALTER TABLE deleted_applications DROP COLUMN hidden_at, DROP COLUMN purged_at;
