-- Keeps an ask open for another while and looks whether it was answered.
--
-- KEYS[1]  hash    agon:door:{door}:asks     field address -> "asked_ms digest ask-as-json"
-- KEYS[2]  hash    agon:door:{door}:answers  field address -> answer as JSON
-- KEYS[3]  zset    agon:door:{door}:until    member address, score ms at which it goes
-- KEYS[4]  string  agon:door:{door}:version  changes with every change of what waits
-- ARGV[1]  address
-- ARGV[2]  digest of the request
-- ARGV[3]  milliseconds that the ask stays unless tended again
-- ARGV[4]  milliseconds that the four keys stay after that
--
-- Result   {"answered", answer}   as JSON
--          {"waiting"}
--          {"missing"}            it has to be published again
local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known or string.match(known, '^%d+ (%S+) ') ~= ARGV[2] then
  return {'missing'}
end
local answer = redis.call('HGET', KEYS[2], ARGV[1])
if answer then
  return {'answered', answer}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[3], 'GT', now + tonumber(ARGV[3]), ARGV[1])
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ARGV[4])
end
return {'waiting'}
