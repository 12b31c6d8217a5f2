-- +goose Up

-- What somebody wants to be told of: an owner of an application, administrators (owner_id is NULL) of a capability,
-- an upstream or the platform itself.
CREATE TABLE alert_rules (
    id                uuid PRIMARY KEY,
    owner_id          uuid REFERENCES users (id) ON DELETE CASCADE,
    name              text NOT NULL,
    kind              text NOT NULL CHECK (kind IN ('failureRate', 'noCalls', 'p95', 'tokens', 'cost', 'limit', 'keyExpiry', 'statisticsBehind', 'spoolStuck')),
    application_id    uuid REFERENCES applications (id) ON DELETE CASCADE,
    capability_id     text COLLATE "C" REFERENCES capabilities (id) ON DELETE CASCADE,
    upstream_id       text COLLATE "C" REFERENCES upstreams (id) ON DELETE CASCADE, -- none of the three: the platform
    threshold         double precision NOT NULL, -- reached: it fires
    resolve_threshold double precision NOT NULL, -- left: it is resolved
    window_minutes    integer,                   -- of failureRate and p95
    min_calls         bigint,                    -- of failureRate and p95
    period            text CHECK (period IN ('day', 'month')), -- of tokens and cost: Beijing's
    currency          text,                      -- of cost
    limit_name        text,                      -- of limit
    enabled           boolean NOT NULL DEFAULT true,
    silenced_until    timestamptz,
    created_by        text NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    CHECK (num_nonnulls(application_id, capability_id, upstream_id) <= 1),
    CHECK ((owner_id IS NULL) = (application_id IS NULL))
);
CREATE INDEX alert_rules_owner ON alert_rules (owner_id);
CREATE INDEX alert_rules_application ON alert_rules (application_id);
CREATE INDEX alert_rules_capability ON alert_rules (capability_id);
CREATE INDEX alert_rules_upstream ON alert_rules (upstream_id);
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON alert_rules
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();

-- What was found of a rule last. Apart from it, because it changes without an edit. told is what whoever is to be told
-- knows: it lags behind value while the rule is silenced.
CREATE TABLE alert_states (
    rule_id        uuid PRIMARY KEY REFERENCES alert_rules (id) ON DELETE CASCADE,
    value          text NOT NULL DEFAULT 'ok' CHECK (value IN ('ok', 'firing')),
    told           text NOT NULL DEFAULT 'ok' CHECK (told IN ('ok', 'firing')),
    since          timestamptz,                -- of value
    streak         integer NOT NULL DEFAULT 0, -- evaluations in a row that speak against value
    unknown        text NOT NULL DEFAULT 'not_evaluated', -- why nothing could be found; empty: something was
    measured       double precision,
    figures        jsonb NOT NULL DEFAULT '{}',
    sequence       bigint NOT NULL DEFAULT 0,  -- of the last event
    evaluated_at   timestamptz
) WITH (fillfactor = 70);

-- Where a rule's events go. URLs of bots hold their keys, so they are sealed too (internal/secret).
CREATE TABLE alert_channels (
    id            uuid PRIMARY KEY,
    rule_id       uuid NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
    position      integer NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('mail', 'webhook', 'feishu', 'dingtalk', 'wecom', 'slack')),
    destination   text NOT NULL, -- as it may be shown: the address, or scheme and host of the URL
    sealed_url    bytea,         -- NULL: mail
    sealed_secret bytea,
    former_secret bytea,         -- signs too until former_until
    former_until  timestamptz,
    CHECK ((former_secret IS NULL) = (former_until IS NULL))
);
CREATE INDEX alert_channels_rule ON alert_channels (rule_id);

-- The outbox: written in the transaction that changes the state, kept 30 days.
CREATE TABLE alert_events (
    id       uuid PRIMARY KEY,
    rule_id  uuid NOT NULL REFERENCES alert_rules (id) ON DELETE CASCADE,
    kind     text NOT NULL CHECK (kind IN ('firing', 'resolved', 'test')),
    sequence bigint, -- from 1, without gaps; NULL: a test
    at       timestamptz NOT NULL,
    measured double precision,
    figures  jsonb NOT NULL,
    payload  jsonb NOT NULL, -- the body of webhooks, the same in every attempt
    UNIQUE (rule_id, sequence)
);
CREATE INDEX alert_events_at ON alert_events (at);

CREATE TABLE alert_deliveries (
    id            uuid PRIMARY KEY,
    event_id      uuid NOT NULL REFERENCES alert_events (id) ON DELETE CASCADE,
    channel_id    uuid REFERENCES alert_channels (id) ON DELETE SET NULL,
    channel_kind  text NOT NULL,
    destination   text NOT NULL,
    status        text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'given_up')),
    attempts      integer NOT NULL DEFAULT 0,
    next_at       timestamptz NOT NULL DEFAULT now(), -- of a pending one
    deadline      timestamptz NOT NULL,               -- then it is given up
    claim         uuid,                               -- of the attempt that is made now
    claimed_until timestamptz,                        -- then another may be made
    last_at       timestamptz,
    last_status   integer,                            -- of HTTP
    error         text,                               -- of the last attempt
    delivered_at  timestamptz
);
CREATE INDEX alert_deliveries_event ON alert_deliveries (event_id);
CREATE INDEX alert_deliveries_due ON alert_deliveries (next_at) WHERE status = 'pending';
CREATE INDEX alert_deliveries_channel ON alert_deliveries (channel_id) WHERE status = 'pending';

-- +goose Down
DROP TABLE alert_deliveries, alert_events, alert_channels, alert_states, alert_rules;
