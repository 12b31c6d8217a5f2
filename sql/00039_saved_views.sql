-- +goose Up

-- Questions that developers keep: a page and its query.
CREATE TABLE saved_views (
    id         uuid        PRIMARY KEY,
    owner_id   uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    page       text        NOT NULL CHECK (page IN ('calls', 'explore')),
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
    query      text        NOT NULL CHECK (octet_length(query) <= 4096),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE UNIQUE INDEX saved_views_names ON saved_views (owner_id, page, lower(name));

-- +goose Down
DROP TABLE saved_views;
