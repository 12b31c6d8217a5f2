-- One exchange between a gateway and the count of one limit over a sliding window. Time is
-- counted in buckets; what was taken in a bucket stays in the window for so many buckets.
--
-- KEYS: 1 the count
-- ARGV: 1 milliseconds of a bucket, 2 milliseconds added to the clock, 3 buckets of the window, 4 limit, 5 whether
-- what exceeds the limit is a debt, 6 gateway, 7 number of the exchange, 8 how much is wanted, 9 the least that helps,
-- 10 gateways that share, 11 since when (ms) the gateway counts, 12 what the gateway has taken and not used, then pairs
-- of bucket and change.
-- Gives {epoch, newest bucket, total, charged ever, debt, granted, bucket of the grant, ms, based, taken by others and
-- not used}.
local key, gateway, number = KEYS[1], ARGV[6], ARGV[7]
local buckets, limit = tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
local now = math.floor((ms + ARGV[2]) / ARGV[1])

local function text(n) return string.format('%.0f', n) end
local function add(bucket, n) redis.call('HINCRBY', key, text(bucket), text(n)) end

local kept = redis.call('HMGET', key, 'epoch', 'newest', 'total', 'charged', 'debt',
  'number:' .. gateway, 'grant:' .. gateway, 'at:' .. gateway, 'idle')
local epoch, newest = kept[1] or (time[1] .. '.' .. time[2]), tonumber(kept[2] or now)
local total, charged, debt = tonumber(kept[3] or 0), tonumber(kept[4] or 0), tonumber(kept[5] or 0)
now = math.max(now, newest) -- the clock of another server may be behind

-- What leaves the window makes room, which a debt takes first.
if now - newest >= buckets then
  redis.call('DEL', key)
  kept[6] = false
  debt = math.max(0, debt - limit * math.floor((now - newest) / buckets))
  if ARGV[5] ~= '1' then debt = 0 end
  total = math.min(debt, limit)
  debt = debt - total
  if total > 0 then add(now, total) end
else
  for bucket = newest - buckets + 1, now - buckets do
    local left = tonumber(redis.call('HGET', key, text(bucket)) or 0)
    if left ~= 0 then
      redis.call('HDEL', key, text(bucket))
      local paid = math.max(0, math.min(debt, left))
      total, debt = total - left + paid, debt - paid
      if paid > 0 then add(now, paid) end
    end
  end
end

-- The changes, once: an exchange whose answer was lost comes again under its number.
if kept[6] ~= number then
  for i = 13, #ARGV, 2 do
    local bucket, n = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
    if bucket > now then bucket = now end
    if bucket > now - buckets then
      charged = charged + n
      if n > 0 and ARGV[5] == '1' and total + n > limit then
        local fits = math.min(n, math.max(0, limit - total))
        n, debt = fits, debt + n - fits
      end
      if n ~= 0 then
        add(bucket, n)
        total = total + n
      end
    end
  end
  -- Below 0 while what was given back is told to a count that has lost what was taken.
  local granted, free, want = 0, limit - math.max(0, total), tonumber(ARGV[8])
  if debt > 0 then free = 0 end
  if want > 0 and free > 0 then
    -- Nobody takes all that is left ahead of need.
    granted = math.min(free, math.min(want, math.max(tonumber(ARGV[9]), math.floor(free / (4 * ARGV[10])))))
    add(now, granted)
    total, charged = total + granted, charged + granted
  end
  kept[7], kept[8] = text(granted), text(now)
  redis.call('HSET', key, 'number:' .. gateway, number, 'grant:' .. gateway, kept[7], 'at:' .. gateway, kept[8])
end

-- What is taken and not used, as "gateway:amount:bucket" each: of a gateway that is silent, until its lease is out of the
-- window.
local unused, idle = {}, 0
for other, n, bucket in string.gmatch(kept[9] or '', '([^%s:]+):(%d+):(%d+)') do
  if other ~= gateway and tonumber(bucket) > now - buckets then
    unused[#unused + 1] = other .. ':' .. n .. ':' .. bucket
    idle = idle + n
  end
end
local own = ARGV[12] + kept[7]
if own > 0 then unused[#unused + 1] = gateway .. ':' .. text(own) .. ':' .. text(now) end

redis.call('HSET', key, 'epoch', epoch, 'newest', text(now), 'total', text(total), 'charged', text(charged),
  'debt', text(debt), 'began:' .. gateway, ARGV[11],
  'idle', table.concat(unused, ' '))
redis.call('PEXPIRE', key, text(2 * buckets * ARGV[1] * (1 + math.ceil(debt / limit))))
return {epoch, now, total, charged, debt, tonumber(kept[7]), tonumber(kept[8]), ms, redis.call('HEXISTS', key, 'based'), idle}
