-- +goose Up

-- Upstreams that capabilities share: a provider's address and key, kept once.
-- A capability that names none goes on using its own upstream_base_url and upstream_key; one that names some uses
-- only those, and a process of the version before, which knows of none, its own.
CREATE TABLE upstreams (
    id           text COLLATE "C" PRIMARY KEY,
    name         text NOT NULL,
    base_url     text NOT NULL,
    auth         text NOT NULL DEFAULT 'bearer' CHECK (auth IN ('bearer', 'x-api-key', 'api-key', 'x-goog-api-key')),
    sealed_key   bytea NOT NULL,        -- see internal/secret
    former_key   bytea,                 -- the key before, sealed; NULL: none that may be put back
    former_until timestamptz,           -- until when it may be put back
    check_path   text NOT NULL DEFAULT '/v1/models', -- what a check asks for
    check_model  text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    CHECK ((former_key IS NULL) = (former_until IS NULL))
);

CREATE TABLE capability_upstreams (
    capability_id text COLLATE "C" NOT NULL REFERENCES capabilities (id),
    upstream_id   text COLLATE "C" NOT NULL REFERENCES upstreams (id),
    weight        integer NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000),
    priority      integer NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 100), -- the least is tried first
    status        text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled')),
    PRIMARY KEY (capability_id, upstream_id)
);
CREATE INDEX capability_upstreams_upstream ON capability_upstreams (upstream_id);

-- How each gateway sees the upstreams, told every few seconds beside its heartbeat.
CREATE TABLE gateway_upstreams (
    spool_id    uuid NOT NULL REFERENCES gateways (spool_id) ON DELETE CASCADE,
    upstream_id text COLLATE "C" NOT NULL REFERENCES upstreams (id) ON DELETE CASCADE,
    state       text NOT NULL CHECK (state IN ('closed', 'open', 'probing')), -- of the breaker
    opened_at   timestamptz,              -- NULL: it is closed
    calls       bigint NOT NULL,          -- of the last ten seconds
    failures    bigint NOT NULL,
    error       text NOT NULL DEFAULT '', -- the last one, in a few fixed words
    error_at    timestamptz,
    reported_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (spool_id, upstream_id)
);
CREATE INDEX gateway_upstreams_upstream ON gateway_upstreams (upstream_id);

-- A change of an upstream is one of every capability that uses it: the gateways know only those (access_changes).
-- The rows are taken in the order of their ids, as by whoever else changes several.
-- +goose StatementBegin
CREATE FUNCTION raise_versions_of_upstream() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM capabilities c JOIN capability_upstreams u ON u.capability_id = c.id
        WHERE u.upstream_id = NEW.id ORDER BY c.id FOR NO KEY UPDATE OF c;
    UPDATE capabilities SET version = 0
        WHERE id IN (SELECT capability_id FROM capability_upstreams WHERE upstream_id = NEW.id);
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION raise_capability_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE capabilities SET version = 0 WHERE id IN (SELECT capability_id FROM touched);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER tell_change AFTER UPDATE ON upstreams FOR EACH ROW
    WHEN (NOT is_resealing() AND (OLD.base_url, OLD.auth, OLD.sealed_key) IS DISTINCT FROM (NEW.base_url, NEW.auth, NEW.sealed_key))
    EXECUTE FUNCTION raise_versions_of_upstream();
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON upstreams
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();

CREATE TRIGGER upstream_added AFTER INSERT ON capability_upstreams REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_capability_version();
CREATE TRIGGER upstream_changed AFTER UPDATE ON capability_upstreams REFERENCING NEW TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_capability_version();
CREATE TRIGGER upstream_removed AFTER DELETE ON capability_upstreams REFERENCING OLD TABLE AS touched
    FOR EACH STATEMENT EXECUTE FUNCTION raise_capability_version();

-- +goose Down
DROP TABLE gateway_upstreams, capability_upstreams, upstreams;
DROP FUNCTION raise_versions_of_upstream, raise_capability_version;
