-- Gives a claim up without an answer, when it is still ours.
--
-- KEYS[1]  hash  agon:claims:{session}   field "seat/index" -> "expires_ms holder digest"
-- ARGV[1]  field, "seat/index"
-- ARGV[2]  holder
--
-- Result   1 released, 0 it was not ours
local claim = redis.call('HGET', KEYS[1], ARGV[1])
if claim and string.match(claim, '^%d+ (%S+) ') == ARGV[2] then
  return redis.call('HDEL', KEYS[1], ARGV[1])
end
return 0
