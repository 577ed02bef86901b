-- How one key stands in a lane. Read only, on Redis's clock.
--
-- KEYS[1]  hash  agon:limits:{pool}:<key>         see admission_reserve
-- KEYS[2]  hash  agon:limits:{pool}:<key>:<lane>
-- KEYS[3]  zset  agon:attempts:{pool}:<key>
--
-- Result   {ms held, in flight, requests of the day, the same in the lane,
--           4 x {limit shown by headers or 0, taken in the last minute} of the key, the same in the lane}
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local minute, hour = math.floor(now / 60000), math.floor(now / 3600000)
local held = math.max(tonumber(redis.call('HGET', KEYS[2], 'h') or '0') - now, 0)

local function of_day(scope)
  local used, flat = 0, redis.call('HGETALL', scope .. ':day')
  for i = 1, #flat, 2 do
    if tonumber(flat[i]) + 25 > hour then
      used = used + tonumber(flat[i + 1])
    end
  end
  return used
end

local result = {math.ceil(held), redis.call('ZCOUNT', KEYS[3], string.format('(%.3f', now), '+inf'),
  of_day(KEYS[1]), of_day(KEYS[2])}
for _, scope in ipairs({KEYS[1], KEYS[2]}) do
  local m = tonumber(redis.call('HGET', scope, 'm') or minute)
  for q = 1, 4 do
    local raw = redis.call('HMGET', scope, 's' .. q, 'u' .. q, 'p' .. q)
    local this, before = tonumber(raw[2] or 0), tonumber(raw[3] or 0)
    if minute - m == 1 then
      this, before = 0, this
    elseif minute - m > 1 then
      this, before = 0, 0
    end
    result[#result + 1] = tonumber(raw[1] or 0)
    result[#result + 1] = math.floor(math.max(this + before * (1 - (now / 60000 - minute)), 0) + 0.5)
  end
end
return result
