-- Adds what the ledger has of a day to its count, once.
-- KEYS: 1 the count   ARGV: 1 the day's bucket, 2 what to add
if redis.call('HGET', KEYS[1], 'newest') ~= ARGV[1] or redis.call('HSETNX', KEYS[1], 'based', '1') == 0 then return 0 end
redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[2])
redis.call('HINCRBY', KEYS[1], 'total', ARGV[2])
redis.call('HINCRBY', KEYS[1], 'charged', ARGV[2])
return 1
