-- One exchange between a gateway and what is known of a budget in one period. A gateway says the whole of its part each time, so
-- an exchange may come again. Amounts are millionths.
--
-- KEYS: 1 what is known
-- ARGV: 1 gateway, 2 its tail: what its calls cost that no reading of the ledger has, 3 the amount, 4 whether it wants to spend
-- ('1'), 5 gateways that share, 6 milliseconds after which a reading is taken anew, 7 milliseconds after which what a silent
-- gateway may spend is free, 8 milliseconds within which all gateways say theirs, then the spools of ended gateways of which the
-- ledger has everything.
-- Gives {ms, spent by the reading, ms of the reading (0: there is none, or not everybody has said his part), unpriced
-- capabilities, tails of others, what this one may spend, whether this one is to take a reading}.
local key, gateway, own = KEYS[1], 'gateway:' .. ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(n) return string.format('%.0f', n) end
local ended = {}
for i = 9, #ARGV do ended['gateway:' .. ARGV[i]] = true end

local kept, others, leased = {}, 0, 0
local fields = redis.call('HGETALL', key)
for i = 1, #fields, 2 do kept[fields[i]] = fields[i + 1] end
local spent, at, asked = tonumber(kept['spent'] or 0), tonumber(kept['at'] or 0), tonumber(kept['asked'] or 0)
if not kept['began'] then redis.call('HSET', key, 'began', text(ms)) end
local young = tonumber(ARGV[5]) > 1 and ms - (kept['began'] or ms) < tonumber(ARGV[8])
for field, value in pairs(kept) do
  local tail, lease, seen, whole = string.match(value, '^(%d+):(%d+):(%d+):(%d+)$')
  if tail and field ~= gateway then
    if ended[field] and whole == '0' then -- a reading that begins from now on has all of its tail
      whole = text(ms)
      redis.call('HSET', key, field, tail .. ':0:' .. seen .. ':' .. whole)
    end
    if whole ~= '0' and at > tonumber(whole) then
      redis.call('HDEL', key, field)
    else
      others = others + tail
      if whole == '0' and ms - seen <= tonumber(ARGV[7]) then leased = leased + lease end
    end
  end
end

local granted, left = 0, ARGV[3] - spent - others - leased - own
if ARGV[4] == '1' and left > 0 and at > 0 and not young then granted = math.ceil(left / (2 * ARGV[5])) end
redis.call('HSET', key, gateway, text(own) .. ':' .. text(granted) .. ':' .. text(ms) .. ':0')
local claimed = 0
if ms - at > tonumber(ARGV[6]) and ms - asked > 2 * ARGV[6] then
  redis.call('HSET', key, 'asked', text(ms))
  claimed = 1
end
redis.call('PEXPIRE', key, 86400000)
return {ms, spent, young and 0 or at, kept['unpriced'] or '', others, granted, claimed}
