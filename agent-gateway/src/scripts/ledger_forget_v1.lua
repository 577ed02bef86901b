-- Lets a session's ledger go after a grace. A second time may only shorten it.
-- Claims need no care: they expire by themselves.
--
-- KEYS[1]  hash  agon:ledger:{session}   field "seat/index" -> decision as JSON;
--                field "forgotten" once the session is forgotten
-- ARGV[1]  milliseconds that the decisions stay readable; 0 deletes at once
--
-- Result   1 the grace was set, 0 there is no such ledger or it goes sooner
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
local first = redis.call('HSETNX', KEYS[1], 'forgotten', '1') == 1
if first or redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then
  return redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 0
