-- +goose Up

-- One row per gateway spool: everything handed over before "through" is confirmed
-- in ClickHouse or counted in dropped_calls. A dead gateway's row holds back
-- dataThrough until its spool is adopted or retired.
CREATE TABLE spools (
    id         uuid PRIMARY KEY,
    node       text NOT NULL,
    through    timestamptz NOT NULL,
    retired    boolean NOT NULL DEFAULT false,
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- Calls known to be missing from ClickHouse, per Beijing day. The nil application
-- stands for records that were damaged on disk and name none; then spool_id is their segment.
CREATE TABLE dropped_calls (
    day            date NOT NULL,
    application_id uuid NOT NULL,
    spool_id       uuid NOT NULL,
    calls          bigint NOT NULL CHECK (calls >= 0),
    PRIMARY KEY (day, application_id, spool_id)
);

-- Beijing days whose rollups may lack rows that calls has: batches of uncertain fate were
-- found there by batch_id. The daily check compares them and takes them off.
CREATE TABLE rollup_doubts (
    day      date PRIMARY KEY,
    noted_at timestamptz NOT NULL DEFAULT now()
);

-- When this installation began to collect; earlier days are "not collected".
CREATE TABLE collection (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    started_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO collection DEFAULT VALUES;

-- +goose Down
DROP TABLE collection, rollup_doubts, dropped_calls, spools;
