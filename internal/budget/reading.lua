-- Keeps a reading of the ledger, unless a later one is kept.
-- KEYS: 1 what is known   ARGV: 1 when it began (ms of Redis), 2 what is spent but for what the gateways count, in millionths,
-- 3 the first day that they count, 4 unpriced capabilities, 5 version of the price book, then the ended gateways that it has
-- everything of
if tonumber(redis.call('HGET', KEYS[1], 'at') or 0) >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'at', ARGV[1], 'spent', ARGV[2], 'cut', ARGV[3], 'unpriced', ARGV[4], 'version', ARGV[5])
for i = 6, #ARGV do redis.call('HDEL', KEYS[1], 'gateway:' .. ARGV[i]) end
redis.call('HDEL', KEYS[1], 'asked')
redis.call('PEXPIRE', KEYS[1], 172800000)
return 1
