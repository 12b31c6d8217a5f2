-- +goose Up

-- The price book, kept by administrators: what a million tokens of a capability cost from a Beijing day on, until
-- the next row of the same capability and upstream model. Of one day the row of the model that the upstream named
-- holds, else that of any model. Costs are computed from it when they are asked for, so a corrected row reprices
-- its days at once. Capabilities are never deleted, so a price is always of one that there is.
CREATE TABLE prices (
    id             uuid PRIMARY KEY,
    capability_id  text COLLATE "C" NOT NULL REFERENCES capabilities (id),
    upstream_model text COLLATE "C" NOT NULL DEFAULT '', -- as the upstream names it; '': any
    from_day       date NOT NULL,                        -- first Beijing day it holds on
    currency       text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    -- Of a million tokens, in units of the currency.
    input          numeric(13, 4) NOT NULL CHECK (input >= 0),
    cached         numeric(13, 4) CHECK (cached >= 0),      -- NULL: as input
    cache_write    numeric(13, 4) CHECK (cache_write >= 0), -- NULL: as input
    output         numeric(13, 4) NOT NULL CHECK (output >= 0),
    created_by     text NOT NULL,
    updated_by     text NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    UNIQUE (capability_id, upstream_model, from_day)
);

-- Another value with every change of the book, whoever makes it: who holds the book asks for this one row to see
-- whether it is still the book. Random, so that no database that was put back says the same of other prices.
CREATE TABLE price_book (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO price_book DEFAULT VALUES;

-- +goose StatementBegin
CREATE FUNCTION raise_price_book_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE price_book SET version = gen_random_uuid();
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER raise_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON prices
    FOR EACH STATEMENT EXECUTE FUNCTION raise_price_book_version();
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON prices
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();

-- +goose Down
DROP TABLE prices, price_book;
DROP FUNCTION raise_price_book_version;
