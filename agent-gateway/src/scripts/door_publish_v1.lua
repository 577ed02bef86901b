-- Publishes an ask at a door, for a time. An ask of another request under the
-- same address is replaced; an equal one keeps its age and its answer.
--
-- KEYS[1]  hash    agon:door:{door}:asks     field address -> "asked_ms digest ask-as-json"
-- KEYS[2]  hash    agon:door:{door}:answers  field address -> answer as JSON
-- KEYS[3]  zset    agon:door:{door}:until    member address, score ms at which it goes
-- KEYS[4]  string  agon:door:{door}:version  changes with every change of what waits
-- ARGV[1]  address
-- ARGV[2]  digest of the request
-- ARGV[3]  ask as JSON
-- ARGV[4]  milliseconds that the ask stays unless tended
-- ARGV[5]  milliseconds that the four keys stay after the last ask
--
-- Result   the answer as JSON when there is one already, else false
local function change(now_us)
  local version = math.max(now_us, (tonumber(redis.call('GET', KEYS[4])) or 0) + 1)
  redis.call('SET', KEYS[4], string.format('%.0f', version))
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do
  redis.call('HDEL', KEYS[1], gone)
  redis.call('HDEL', KEYS[2], gone)
  redis.call('ZREM', KEYS[3], gone)
end
local known = redis.call('HGET', KEYS[1], ARGV[1])
local digest = known and string.match(known, '^%d+ (%S+) ')
local answer = false
if digest == ARGV[2] then
  answer = redis.call('HGET', KEYS[2], ARGV[1])
else
  local asked = string.format('%.0f', now)
  redis.call('HSET', KEYS[1], ARGV[1], asked .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
  redis.call('HDEL', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  change(time[1] * 1000000 + time[2])
end
redis.call('ZADD', KEYS[3], 'GT', now + tonumber(ARGV[4]), ARGV[1])
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ARGV[5])
end
return answer
