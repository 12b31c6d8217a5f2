-- +goose Up

-- What of an upstream may be called through a capability; an empty list allows everything. A binary
-- of the version before ignores both and keeps them.
ALTER TABLE capabilities
    ADD COLUMN allowed_methods text[] NOT NULL DEFAULT '{}',
    ADD COLUMN allowed_paths   text[] NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE capabilities DROP COLUMN allowed_methods, DROP COLUMN allowed_paths;
