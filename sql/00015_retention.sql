-- +goose Up

-- What of the past is certainly still there. Rows that a shorter retention took away do not come back with a longer
-- one, so each lengthening notes the first day that was left by then (NULL: nothing was ever lost), and the days
-- say what the tables were last told, whatever a process has in its environment.
ALTER TABLE collection
    ADD COLUMN statistics_days integer NOT NULL DEFAULT 399,
    ADD COLUMN call_days       integer NOT NULL DEFAULT 399,
    ADD COLUMN statistics_from date,
    ADD COLUMN calls_from      date;

-- +goose Down
ALTER TABLE collection
    DROP COLUMN statistics_days, DROP COLUMN call_days, DROP COLUMN statistics_from, DROP COLUMN calls_from;
