-- One exchange between a gateway and what is known of a budget in one period. A gateway says the whole of its part each time, so
-- an exchange may come again. Amounts are millionths; days are numbers.
--
-- KEYS: 1 what is known
-- ARGV: 1 gateway, 2 what its calls of each day cost, or are expected to that are in flight, as "day=amount day=amount", 3 the
-- amount, 4 the least that it wants to spend, for a call that waits, which may be more than is left; -1: nothing, 5 gateways that
-- share, 6 when its first call began that is in 2 (ms), 7 milliseconds after which a reading is taken anew, 8 after which one that
-- was not told is, 9 after which what a silent gateway may spend is free, 10 within which all gateways say theirs, 11 version of
-- the price book, 12 since when it counts if it has calls of before and nobody knew (ms); '': it has none.
-- Gives {ms, spent but by this gateway, by this one, ms of the reading (0: there is none, or not everybody has said his part),
-- first day that the gateways count, unpriced capabilities, what this one may spend, whether this one is to take a
-- reading, whether the reading has its calls of before 12}.
local key, own = KEYS[1], 'gateway:' .. ARGV[1]
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(n) return string.format('%.0f', n) end

local kept, fields = {}, redis.call('HGETALL', key)
for i = 1, #fields, 2 do kept[fields[i]] = fields[i + 1] end
if not kept['born'] then
  kept['born'] = text(ms)
  redis.call('HSET', key, 'born', kept['born'])
end
local at, asked, cut = tonumber(kept['at'] or 0), tonumber(kept['asked'] or 0), tonumber(kept['cut'] or 0)
local young = tonumber(ARGV[5]) > 1 and ms - kept['born'] < tonumber(ARGV[10])
-- Days before the cut are in the reading.
local function counted(days)
  local sum = 0
  for day, amount in string.gmatch(days, '(%d+)=(%d+)') do
    if tonumber(day) >= cut then sum = sum + amount end
  end
  return sum
end

-- A gateway that says its part for the first time after a reading: that has its calls, which are some seconds old, for it was idle.
local said, began, late = ARGV[2], ARGV[6], 0
if ARGV[12] ~= '' and at > 0 and not kept[own] then
  said, began, late = '', ARGV[12], 1
  kept['version'] = ''
  redis.call('HDEL', key, 'version')
end

local others, leased, mine = tonumber(kept['spent'] or 0), 0, counted(said)
for field, value in pairs(kept) do
  if field ~= own and string.sub(field, 1, 8) == 'gateway:' then
    local lease, seen, days = string.match(value, '^(%d+) (%d+) %d+ ?(.*)$')
    others = others + counted(days)
    if ms - seen <= tonumber(ARGV[9]) then leased = leased + lease end
  end
end
local granted, left = 0, ARGV[3] - others - leased - mine
if tonumber(ARGV[4]) >= 0 and left > 0 and at > 0 and not young then
  granted = math.max(math.ceil(left / (2 * ARGV[5])), tonumber(ARGV[4]))
end
redis.call('HSET', key, own, text(granted) .. ' ' .. text(ms) .. ' ' .. began .. ' ' .. said)
local claimed = 0
if not young and (ms - at > tonumber(ARGV[7]) or kept['version'] ~= ARGV[11]) and ms - asked > tonumber(ARGV[8]) then
  redis.call('HSET', key, 'asked', text(ms))
  claimed = 1
end
redis.call('PEXPIRE', key, 172800000)
return {ms, others, mine, young and 0 or at, cut, kept['unpriced'] or '', granted, claimed, late}
