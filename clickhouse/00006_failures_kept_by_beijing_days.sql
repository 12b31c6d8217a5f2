-- A failure's detail is shown for 30 Beijing days. Its time to live was a date, which the server takes for
-- midnight in a zone of its own: east of Beijing rows went up to six hours before they were said to be
-- expired. An instant means the same in every zone; a day more leaves the answer alone to say "expired".

-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
ALTER TABLE call_failures MODIFY TTL toDateTime(toStartOfDay(start_time), 'Asia/Shanghai') + INTERVAL 31 DAY;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE call_failures MODIFY TTL toDate(start_time) + INTERVAL 30 DAY;
