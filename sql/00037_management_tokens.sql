-- +goose Up

-- What programs of a developer manage and read statistics with. Of a token only its HMAC under the pepper is kept.
CREATE TABLE management_tokens (
    id           uuid PRIMARY KEY,
    owner_id     uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         text NOT NULL,
    access       text NOT NULL CHECK (access IN ('read', 'full')),
    lookup       bytea NOT NULL UNIQUE,
    mask         text NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    last_used_at timestamptz
);
CREATE INDEX management_tokens_owner ON management_tokens (owner_id);

-- +goose Down
DROP TABLE management_tokens;
