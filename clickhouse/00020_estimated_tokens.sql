-- What limits were charged for calls whose answers do not tell what they used: kept on the call, so
-- that a count that Redis lost is made again of it. It is in no figure of tokens: those are what answers report.

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE calls
    ADD COLUMN IF NOT EXISTS estimated_tokens UInt32 COMMENT 'Tokens that limits were charged beyond those the answer reports, estimated; 0 when it reports all, or no limit of tokens holds' CODEC(T64, ZSTD(1));
-- +goose StatementEnd

-- +goose Down
-- The column hurts nobody.
SELECT 1;
