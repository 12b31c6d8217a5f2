-- +goose Up

-- What one unit of a currency is in another, kept by administrators: from a Beijing day on, until the next row of the same
-- two. Costs stay in the currencies of their prices; of these rates one total is made of them when it is asked for. The
-- version before has no totals, and knows nothing of them.
CREATE TABLE rates (
    id          uuid PRIMARY KEY,
    currency    text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    to_currency text NOT NULL CHECK (to_currency ~ '^[A-Z]{3}$'),
    from_day    date NOT NULL,
    rate        numeric(21, 12) NOT NULL CHECK (rate > 0),
    created_by  text NOT NULL,
    updated_by  text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (currency, to_currency, from_day),
    CHECK (currency <> to_currency)
);

-- A book is prices and rates of one moment.
CREATE TRIGGER raise_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON rates
    FOR EACH STATEMENT EXECUTE FUNCTION raise_price_book_version();
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON rates
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();

-- +goose Down
DROP TABLE rates;
