-- +goose Up

-- The heartbeat of each gateway: one row per process, which is one per spool, written with every report to the
-- ledger (every second), and what of its spool ClickHouse had not confirmed then. A gateway that ends in order
-- says so; a row that is merely old is that of one that was killed, or cannot reach PostgreSQL.
CREATE TABLE gateways (
    spool_id   uuid PRIMARY KEY,
    host       text NOT NULL,
    role       text NOT NULL,
    version    text NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz,
    oldest_at  timestamptz,                        -- end of the oldest call held; NULL: none, or not known
    held_bytes bigint NOT NULL DEFAULT 0,          -- of segments on disk
    held_calls jsonb NOT NULL DEFAULT '{}'::jsonb  -- calls in them per Beijing day of their start
);
CREATE INDEX gateways_seen_at ON gateways (seen_at);

-- A spool that was given up by command: when, by whom, and how many calls were known to be in it (NULL: not
-- known). Those are in dropped_calls of the nil application, under the spool's id, until they turn up after all.
ALTER TABLE spools
    ADD COLUMN given_up_at    timestamptz,
    ADD COLUMN given_up_by    text,
    ADD COLUMN given_up_calls bigint;

-- +goose Down
ALTER TABLE spools DROP COLUMN given_up_at, DROP COLUMN given_up_by, DROP COLUMN given_up_calls;
DROP TABLE gateways;
