-- What waits at a door: asks without an answer whose time is not over. Sweeps
-- away what is.
--
-- KEYS[1]  hash    agon:door:{door}:asks     field address -> "asked_ms digest ask-as-json"
-- KEYS[2]  hash    agon:door:{door}:answers  field address -> answer as JSON
-- KEYS[3]  zset    agon:door:{door}:until    member address, score ms at which it goes
-- KEYS[4]  string  agon:door:{door}:version  changes with every change of what waits
-- ARGV[1]  version that the caller knows, or ""
--
-- Result   {version}                      nothing has changed
--          {version, now_ms, entry, ...}  entries as in the hash of asks
local function change(now_us)
  local version = math.max(now_us, (tonumber(redis.call('GET', KEYS[4])) or 0) + 1)
  redis.call('SET', KEYS[4], string.format('%.0f', version))
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local swept = false
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do
  redis.call('HDEL', KEYS[1], gone)
  redis.call('HDEL', KEYS[2], gone)
  redis.call('ZREM', KEYS[3], gone)
  swept = true
end
if swept then
  local left = redis.call('PTTL', KEYS[4])
  change(time[1] * 1000000 + time[2])
  if left > 0 then
    redis.call('PEXPIRE', KEYS[4], left)
  end
end
local version = redis.call('GET', KEYS[4]) or '0'
if version == ARGV[1] then
  return {version}
end
local result = {version, string.format('%.0f', now)}
local asks = redis.call('HGETALL', KEYS[1])
for i = 1, #asks, 2 do
  if redis.call('HEXISTS', KEYS[2], asks[i]) == 0 then
    result[#result + 1] = asks[i + 1]
  end
end
return result
