-- Asks for the right to fill one decision address. All or nothing, on Redis's clock.
--
-- KEYS[1]  hash  agon:ledger:{session}   field "seat/index" -> decision as JSON
-- KEYS[2]  hash  agon:claims:{session}   field "seat/index" -> "expires_ms holder digest"
-- ARGV[1]  field, "seat/index"
-- ARGV[2]  holder, unique among all callers of all replicas
-- ARGV[3]  digest of the request
-- ARGV[4]  milliseconds that the claim lasts unless renewed
--
-- Result   {"recorded", decision}   somebody has answered
--          {"granted"}              the caller may ask the provider
--          {"held"}                 another holder is asking the same
--          {"conflict", digest}     another holder is asking something else
local recorded = redis.call('HGET', KEYS[1], ARGV[1])
if recorded then
  return {'recorded', recorded}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local claim = redis.call('HGET', KEYS[2], ARGV[1])
if claim then
  local expires, holder, digest = string.match(claim, '^(%d+) (%S+) (%S+)$')
  if expires and tonumber(expires) > now and holder ~= ARGV[2] then
    if digest ~= ARGV[3] then
      return {'conflict', digest}
    end
    return {'held'}
  end
end
local expires = string.format('%.0f', now + tonumber(ARGV[4]))
redis.call('HSET', KEYS[2], ARGV[1], expires .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
-- Claims of a session nobody asks about any more leave by themselves.
redis.call('PEXPIRE', KEYS[2], math.max(tonumber(ARGV[4]) * 4, redis.call('PTTL', KEYS[2])))
return {'granted'}
