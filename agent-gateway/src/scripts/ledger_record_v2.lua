-- Records a decision, first one wins, and ends the claim.
--
-- KEYS[1]  hash  agon:ledger:{session}   field "seat/index" -> decision as JSON;
--                field "forgotten" once the session is forgotten
-- KEYS[2]  hash  agon:claims:{session}   field "seat/index" -> "expires_ms holder digest"
-- ARGV[1]  field, "seat/index"
-- ARGV[2]  decision as JSON
-- ARGV[3]  milliseconds that a ledger stays after its last write
--
-- Result   false when this decision now stands, else the one that stood before
local standing = redis.call('HGET', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
if standing then
  return standing
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
-- A forgotten session goes when it was told to, whoever still plays it.
if redis.call('HEXISTS', KEYS[1], 'forgotten') == 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return false
