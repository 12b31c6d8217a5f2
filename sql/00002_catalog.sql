-- +goose Up

CREATE TABLE capability_groups (
    id         text COLLATE "C" PRIMARY KEY,
    name       text NOT NULL,
    sort_order integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- There is no DELETE for capabilities: bindings and call records name them for ever.
CREATE TABLE capabilities (
    id                text COLLATE "C" PRIMARY KEY,
    name              text NOT NULL,
    group_id          text COLLATE "C" NOT NULL REFERENCES capability_groups (id),
    description       text NOT NULL DEFAULT '',
    sort_order        integer NOT NULL DEFAULT 0,
    status            text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled')),
    upstream_base_url text NOT NULL,
    upstream_auth     text NOT NULL DEFAULT 'bearer' CHECK (upstream_auth IN ('bearer', 'x-api-key', 'api-key')),
    upstream_key      bytea NOT NULL, -- sealed, see internal/secret
    upstream_model    text NOT NULL DEFAULT '',
    default_path      text NOT NULL DEFAULT '',
    version           bigint NOT NULL DEFAULT 0,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX capabilities_group ON capabilities (group_id, sort_order, id);

CREATE TABLE audit_log (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT now(),
    actor       text NOT NULL,
    action      text NOT NULL,
    target_type text NOT NULL,
    target_id   text NOT NULL,
    target_name text NOT NULL DEFAULT '',
    changes     jsonb NOT NULL DEFAULT '[]'
);

-- +goose Down
DROP TABLE audit_log, capabilities, capability_groups;
