-- Takes an ask away for which nobody waits any more. An answer that has come
-- but was not recorded is returned, and stays until its time is over.
--
-- KEYS[1]  hash    agon:door:{door}:asks     field address -> "asked_ms digest ask-as-json"
-- KEYS[2]  hash    agon:door:{door}:answers  field address -> answer as JSON
-- KEYS[3]  zset    agon:door:{door}:until    member address, score ms at which it goes
-- KEYS[4]  string  agon:door:{door}:version  changes with every change of what waits
-- ARGV[1]  address
-- ARGV[2]  digest of the request
-- ARGV[3]  "1" when the answer is recorded
--
-- Result   the answer that is not recorded, as JSON; nil without one
local function change(now_us)
  local version = math.max(now_us, (tonumber(redis.call('GET', KEYS[4])) or 0) + 1)
  redis.call('SET', KEYS[4], string.format('%.0f', version))
end
local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known or string.match(known, '^%d+ (%S+) ') ~= ARGV[2] then
  return false
end
local answer = redis.call('HGET', KEYS[2], ARGV[1])
if ARGV[3] ~= '1' and answer then
  return answer
end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
local time = redis.call('TIME')
local left = redis.call('PTTL', KEYS[4])
change(time[1] * 1000000 + time[2])
if left > 0 then
  redis.call('PEXPIRE', KEYS[4], left)
end
return false
