-- Keeps a claim alive while its call is in flight. On Redis's clock.
--
-- KEYS[1]  hash  agon:claims:{session}   field "seat/index" -> "expires_ms holder digest"
-- ARGV[1]  field, "seat/index"
-- ARGV[2]  holder
-- ARGV[3]  milliseconds that the claim lasts from now
--
-- Result   1 renewed, 0 no longer ours
local claim = redis.call('HGET', KEYS[1], ARGV[1])
if not claim then
  return 0
end
local _, holder, digest = string.match(claim, '^(%d+) (%S+) (%S+)$')
if holder ~= ARGV[2] then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expires = string.format('%.0f', now + tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], ARGV[1], expires .. ' ' .. holder .. ' ' .. digest)
redis.call('PEXPIRE', KEYS[1], math.max(tonumber(ARGV[3]) * 4, redis.call('PTTL', KEYS[1])))
return 1
