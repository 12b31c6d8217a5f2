-- +goose Up

-- A change lets calls that run go on, unless it is to end them: those that were let in under a version before.
ALTER TABLE access_changes ADD COLUMN ends_calls boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE access_changes DROP COLUMN ends_calls;
