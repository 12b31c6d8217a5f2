-- +goose Up

-- Beijing days are closed from the one on which this was installed: what was before is not told again.
ALTER TABLE collection ADD COLUMN days_from date NOT NULL DEFAULT (now() AT TIME ZONE 'Asia/Shanghai')::date;

-- How a day that was closed stands. A day without a row is open.
CREATE TABLE days (
    day        date PRIMARY KEY,
    state      text NOT NULL CHECK (state IN ('closed', 'reopened')),
    since      timestamptz NOT NULL DEFAULT now(), -- of state
    revision   integer NOT NULL,                   -- of the last closing, from 1
    checked_at timestamptz NOT NULL,               -- of the comparison with its calls (day_checks) that was looked at last
    missed     bigint NOT NULL                     -- calls of dropped_calls that were counted by then
);

-- What each closing found, which never changes.
CREATE TABLE day_revisions (
    day          date NOT NULL REFERENCES days (day),
    revision     integer NOT NULL,
    closed_at    timestamptz NOT NULL DEFAULT now(),
    applications integer NOT NULL, -- with figures
    figures      jsonb NOT NULL,   -- of all together
    missing      jsonb NOT NULL,   -- what is known to be missing
    exported_at  timestamptz,      -- to ClickHouse
    PRIMARY KEY (day, revision)
);
CREATE INDEX day_revisions_unexported ON day_revisions (day) WHERE exported_at IS NULL;

CREATE TABLE day_figures (
    day            date NOT NULL,
    revision       integer NOT NULL,
    application_id uuid NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    owner_id       uuid NOT NULL,
    figures        jsonb NOT NULL,
    PRIMARY KEY (day, revision, application_id),
    FOREIGN KEY (day, revision) REFERENCES day_revisions (day, revision) ON DELETE CASCADE
);
CREATE INDEX day_figures_application ON day_figures (application_id);
CREATE INDEX day_figures_owner ON day_figures (owner_id, day);

-- Closings and reopenings in order, for whoever asked to be told. One console at a time writes them.
CREATE TABLE day_events (
    number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    day      date NOT NULL,
    revision integer NOT NULL, -- that was closed, or reopened
    kind     text NOT NULL CHECK (kind IN ('closed', 'reopened')),
    at       timestamptz NOT NULL DEFAULT now(),
    found    jsonb NOT NULL DEFAULT '{}', -- of a reopening: calls and missed ones as they are now
    UNIQUE (day, revision, kind)
);

-- Alerts of the kind dayClosed are told of these events. They have no row in alert_states: nothing of them is evaluated,
-- and versions that do not know the kind do not see them.
CREATE TABLE alert_days (
    rule_id  uuid PRIMARY KEY REFERENCES alert_rules (id) ON DELETE CASCADE,
    told     bigint NOT NULL,            -- number of the last event that was looked at
    sequence bigint NOT NULL DEFAULT 0,  -- of the last event of the rule
    figures  jsonb NOT NULL DEFAULT '{}' -- of it
);
ALTER TABLE alert_rules DROP CONSTRAINT alert_rules_kind_check, DROP CONSTRAINT alert_rules_check1;
ALTER TABLE alert_rules
    ADD CONSTRAINT alert_rules_kind_check CHECK (kind IN ('failureRate', 'noCalls', 'p95', 'tokens', 'cost', 'limit', 'keyExpiry', 'statisticsBehind', 'spoolStuck', 'dayClosed')),
    ADD CONSTRAINT alert_rules_check1 CHECK (kind = 'dayClosed' AND application_id IS NULL OR (owner_id IS NULL) = (application_id IS NULL));
ALTER TABLE alert_events DROP CONSTRAINT alert_events_kind_check;
ALTER TABLE alert_events ADD CONSTRAINT alert_events_kind_check CHECK (kind IN ('firing', 'resolved', 'test', 'closed', 'reopened'));

-- +goose Down
DELETE FROM alert_rules WHERE kind = 'dayClosed';
ALTER TABLE alert_events DROP CONSTRAINT alert_events_kind_check;
ALTER TABLE alert_events ADD CONSTRAINT alert_events_kind_check CHECK (kind IN ('firing', 'resolved', 'test'));
ALTER TABLE alert_rules DROP CONSTRAINT alert_rules_kind_check, DROP CONSTRAINT alert_rules_check1;
ALTER TABLE alert_rules
    ADD CONSTRAINT alert_rules_kind_check CHECK (kind IN ('failureRate', 'noCalls', 'p95', 'tokens', 'cost', 'limit', 'keyExpiry', 'statisticsBehind', 'spoolStuck')),
    ADD CONSTRAINT alert_rules_check1 CHECK ((owner_id IS NULL) = (application_id IS NULL));
DROP TABLE alert_days, day_events, day_figures, day_revisions, days;
ALTER TABLE collection DROP COLUMN days_from;
