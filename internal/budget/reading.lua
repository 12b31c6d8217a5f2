-- Keeps a reading of the ledger, unless a later one is kept.
-- KEYS: 1 what is known   ARGV: 1 when it began (ms of Redis), 2 what is spent, in millionths, 3 unpriced capabilities
if tonumber(redis.call('HGET', KEYS[1], 'at') or 0) >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'at', ARGV[1], 'spent', ARGV[2], 'unpriced', ARGV[3])
redis.call('PEXPIRE', KEYS[1], 86400000)
return 1
