-- +goose Up

-- Capabilities whose calls cost what their provider says that it charges, where it says so. The version before has prices alone.
CREATE TABLE believed_costs (
    capability_id text COLLATE "C" PRIMARY KEY REFERENCES capabilities (id) ON DELETE CASCADE,
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now()
);

-- A book is prices, rates and this of one moment.
CREATE TRIGGER raise_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON believed_costs
    FOR EACH STATEMENT EXECUTE FUNCTION raise_price_book_version();

-- +goose Down
DROP TABLE believed_costs;
