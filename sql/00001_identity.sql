-- +goose Up

CREATE TABLE users (
    id         uuid PRIMARY KEY,
    email      text NOT NULL UNIQUE CHECK (email = lower(email)),
    created_at timestamptz NOT NULL DEFAULT now()
);

-- One live code per audience and address; only its hash is kept.
CREATE TABLE login_codes (
    audience   text NOT NULL CHECK (audience IN ('callgate-console', 'callgate-admin')),
    email      text NOT NULL CHECK (email = lower(email)),
    code_hash  bytea NOT NULL,
    sent_at    timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    attempts   integer NOT NULL DEFAULT 0,
    PRIMARY KEY (audience, email)
);

-- user_id is null for administrators: they are known by e-mail (ADMIN_EMAILS).
CREATE TABLE sessions (
    id           uuid PRIMARY KEY,
    audience     text NOT NULL CHECK (audience IN ('callgate-console', 'callgate-admin')),
    user_id      uuid REFERENCES users (id) ON DELETE CASCADE,
    email        text NOT NULL,
    token_hash   bytea NOT NULL UNIQUE,
    user_agent   text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    ended_at     timestamptz
);
CREATE INDEX sessions_user ON sessions (user_id, last_used_at DESC) WHERE ended_at IS NULL;

-- Fixed windows of sign-in attempts, by address and by client address.
CREATE TABLE sign_in_limits (
    subject      text NOT NULL,
    window_start timestamptz NOT NULL,
    attempts     integer NOT NULL DEFAULT 0,
    PRIMARY KEY (subject, window_start)
);

-- +goose Down
DROP TABLE sign_in_limits, sessions, login_codes, users;
