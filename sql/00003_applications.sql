-- +goose Up

CREATE TABLE applications (
    id          uuid PRIMARY KEY,
    owner_id    uuid NOT NULL REFERENCES users (id),
    name        text NOT NULL,
    description text NOT NULL DEFAULT '',
    status      text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
    version     bigint NOT NULL DEFAULT 0, -- raised by the triggers of 00004
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX applications_owner ON applications (owner_id, created_at DESC, id DESC);

-- lookup is HMAC-SHA256 of the Access Key under ACCESS_KEY_PEPPER; sealed is for the reveal.
CREATE TABLE access_keys (
    application_id uuid PRIMARY KEY REFERENCES applications (id) ON DELETE CASCADE,
    lookup         bytea NOT NULL UNIQUE,
    sealed         bytea NOT NULL,
    mask           text NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE application_capabilities (
    application_id uuid NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    capability_id  text COLLATE "C" NOT NULL REFERENCES capabilities (id),
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, capability_id)
);
CREATE INDEX application_capabilities_capability ON application_capabilities (capability_id);

-- Tombstones: statistics forget a deleted application at once, its rows are swept later.
CREATE TABLE deleted_applications (
    id         uuid PRIMARY KEY,
    owner_id   uuid NOT NULL,
    name       text NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    swept_at   timestamptz
);

-- +goose Down
DROP TABLE deleted_applications, application_capabilities, access_keys, applications;
