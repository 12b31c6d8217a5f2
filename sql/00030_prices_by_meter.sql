-- +goose Up

-- A price may have an amount for every meter, and hold for one service tier or for long calls only.
--
-- The version before reads and writes the four amounts of prices and nothing else, so what it must not take for a price
-- of any call stands in a table that it does not know. The checks of prices below keep them apart; once no process of
-- that version is left they can go, and the one table's rows be moved into the other.
ALTER TABLE prices
    ADD COLUMN tier text COLLATE "C" NOT NULL DEFAULT '' CONSTRAINT prices_any_tier CHECK (tier = ''),
    ADD COLUMN from_band bigint NOT NULL DEFAULT 0 CONSTRAINT prices_any_band CHECK (from_band = 0),
    -- Amounts of other meters by their names, as decimals in text. An amount of the four columns with more than four
    -- decimals stands here in full and is cut off in its column; it counts as long as the column is its beginning, so
    -- that a correction by the version before holds.
    ADD COLUMN amounts jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(amounts) = 'object');

CREATE TABLE tier_prices (
    id             uuid PRIMARY KEY,
    capability_id  text COLLATE "C" NOT NULL REFERENCES capabilities (id),
    upstream_model text COLLATE "C" NOT NULL DEFAULT '',
    tier           text COLLATE "C" NOT NULL DEFAULT '',                  -- as the upstream's answers name it; '': any
    from_band      bigint NOT NULL DEFAULT 0 CHECK (from_band >= 0),      -- calls of more input tokens than this; 0: any
    from_day       date NOT NULL,
    currency       text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    input          numeric(13, 4) NOT NULL CHECK (input >= 0),
    cached         numeric(13, 4) CHECK (cached >= 0),
    cache_write    numeric(13, 4) CHECK (cache_write >= 0),
    output         numeric(13, 4) NOT NULL CHECK (output >= 0),
    amounts        jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(amounts) = 'object'),
    created_by     text NOT NULL,
    updated_by     text NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    UNIQUE (capability_id, upstream_model, tier, from_band, from_day),
    CHECK (tier <> '' OR from_band > 0)
);

CREATE TRIGGER raise_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON tier_prices
    FOR EACH STATEMENT EXECUTE FUNCTION raise_price_book_version();
CREATE TRIGGER distinguish_updated_at BEFORE UPDATE OF updated_at ON tier_prices
    FOR EACH ROW EXECUTE FUNCTION distinguish_updated_at();

-- The whole book.
CREATE VIEW every_price AS
    SELECT id, capability_id, upstream_model, tier, from_band, from_day, currency, input, cached, cache_write, output, amounts,
           created_by, updated_by, created_at, updated_at
    FROM prices
    UNION ALL
    SELECT id, capability_id, upstream_model, tier, from_band, from_day, currency, input, cached, cache_write, output, amounts,
           created_by, updated_by, created_at, updated_at
    FROM tier_prices;

-- +goose Down
DROP VIEW every_price;
DROP TABLE tier_prices;
ALTER TABLE prices DROP COLUMN tier, DROP COLUMN from_band, DROP COLUMN amounts;
