-- One exchange between a gateway and the slots of an application's calls in flight.
--
-- KEYS: 1 the slots, 2 those in use
-- ARGV: 1 limit, 2 gateway, 3 slots it holds, 4 how many it wants, 5 the least that helps, 6 gateways that share,
-- 7 milliseconds after which what a gateway holds is given up when it does not say so again, 8 how many of its slots are
-- in use. Gives {epoch, held by others, granted, used by others}. What a gateway holds is said whole, so an exchange may come again.
local key, gateway, held, want = KEYS[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch, others = nil, 0
local fields = redis.call('HGETALL', key)
for i = 1, #fields, 2 do
  if fields[i] == 'epoch' then
    epoch = fields[i + 1]
  elseif fields[i] ~= gateway then
    local n, at = string.match(fields[i + 1], '^(%d+):(%d+)$')
    if ms - at > tonumber(ARGV[7]) then
      redis.call('HDEL', key, fields[i])
    else
      others = others + n
    end
  end
end
epoch = epoch or (time[1] .. '.' .. time[2])
local granted, free = 0, ARGV[1] - others - held
if want > 0 and free > 0 then
  granted = math.min(free, math.min(want, math.max(tonumber(ARGV[5]), math.floor(free / (4 * ARGV[6])))))
end
redis.call('HSET', key, 'epoch', epoch, gateway, string.format('%.0f:%.0f', held + granted, ms))
redis.call('PEXPIRE', key, 2 * ARGV[7])
local used, uses = 0, redis.call('HGETALL', KEYS[2])
for i = 1, #uses, 2 do
  if uses[i] ~= gateway then
    local n, at = string.match(uses[i + 1], '^(%d+):(%d+)$')
    if ms - at > tonumber(ARGV[7]) then
      redis.call('HDEL', KEYS[2], uses[i])
    else
      used = used + n
    end
  end
end
redis.call('HSET', KEYS[2], gateway, string.format('%.0f:%.0f', tonumber(ARGV[8]), ms))
redis.call('PEXPIRE', KEYS[2], 2 * ARGV[7])
return {epoch, others, granted, used}
