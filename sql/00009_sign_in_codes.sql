-- +goose Up

-- Login codes by who asked for them: a browser (the hash of the nonce in its cookie) or a program (its
-- network). What others ask for, or guess at, touches nobody's code. login_codes stays for nodes of
-- the version before. spent_* name the counters that a sign-in with this code takes back.
CREATE TABLE sign_in_codes (
    audience       text NOT NULL CHECK (audience IN ('callgate-console', 'callgate-admin')),
    email          text NOT NULL CHECK (email = lower(email)),
    asker          text NOT NULL,
    code_hash      bytea NOT NULL,
    sent_at        timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    attempts       integer NOT NULL DEFAULT 0,
    spent_subjects text[] NOT NULL DEFAULT '{}',
    spent_windows  timestamptz[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (audience, email, asker)
);
CREATE INDEX sign_in_codes_expiry ON sign_in_codes (expires_at);

-- +goose Down
DROP TABLE sign_in_codes;
