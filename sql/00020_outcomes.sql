-- +goose Up

-- How many rollups a day was compared with: one that is added later has a day compared again, which fills it.
ALTER TABLE day_checks ADD COLUMN rollups integer NOT NULL DEFAULT 3;

-- +goose Down
ALTER TABLE day_checks DROP COLUMN rollups;
