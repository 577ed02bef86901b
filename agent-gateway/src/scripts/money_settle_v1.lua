-- Charges a call once and ends its hold; or, without a row, only ends the hold. A hold that
-- had counted as lost was charged in full: that is taken back first.
--
-- KEYS[1]  bitmap  agon:purse:{money}:settled:<owner>:<part>  attempts of one gateway that are
--                                               settled, by the low bits of their number
-- KEYS[2]  hash    agon:purse:{money}:holds     attempt -> JSON [most, day, row, team scope,
--                                               experiment scope]
-- KEYS[3]  zset    agon:purse:{money}:due       attempt -> when its hold counts as lost (ms)
-- KEYS[4]  zset    agon:purse:{money}:lost      attempt -> when it can no longer be corrected (ms)
-- KEYS[5]  hash    agon:purse:{money}:spent     scope -> amount
-- KEYS[6]  hash    agon:purse:{money}:reserved  scope -> amount
-- KEYS[7]  set     agon:purse:{money}:days      days that have rows
-- KEYS[8]  hash    agon:purse:{money}:rows:<day>  row and column -> number; a row is a JSON
--                                               array [team, experiment, model]
--          and the rows of the day of a lost hold, under the same prefix and tag
-- ARGV[1]  attempt
-- ARGV[2]  its bit in KEYS[1]
-- ARGV[3]  milliseconds that KEYS[1] is kept after its last use
-- ARGV[4]  prefix of the rows' keys
-- ARGV[5]  day; "" when nothing is charged, and then there is no more
-- ARGV[6]  row
-- ARGV[7]  scope of the team
-- ARGV[8]  scope of the experiment ("" for none)
-- ARGV[9]  cost in nano-dollars
-- ARGV[10], ARGV[11] ...  columns and what is added to them
--
-- Result   1 settled, 0 it was before
if redis.call('SETBIT', KEYS[1], ARGV[2], 1) == 1 then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local function add(hash, scopes, amount)
  for _, scope in ipairs(scopes) do
    if scope ~= '' then
      redis.call('HINCRBY', hash, scope, amount)
    end
  end
end
local note = redis.call('HGET', KEYS[2], ARGV[1])
if note then
  local hold = cjson.decode(note)
  local most, day, row, scopes = hold[1], hold[2], hold[3], {hold[4], hold[5]}
  -- "-0" is no number to Redis.
  local less = most == '0' and most or '-' .. most
  redis.call('HDEL', KEYS[2], ARGV[1])
  if redis.call('ZREM', KEYS[3], ARGV[1]) == 1 then
    add(KEYS[6], scopes, less)
  else
    redis.call('ZREM', KEYS[4], ARGV[1])
    add(KEYS[5], scopes, less)
    redis.call('HINCRBY', ARGV[4] .. day, row .. 'calls', -1)
    redis.call('HINCRBY', ARGV[4] .. day, row .. 'cost', less)
  end
end
if ARGV[5] == '' then
  return 1
end
if ARGV[9] ~= '0' then
  add(KEYS[5], {ARGV[7], ARGV[8]}, ARGV[9])
  redis.call('HINCRBY', KEYS[8], ARGV[6] .. 'cost', ARGV[9])
end
redis.call('SADD', KEYS[7], ARGV[5])
for i = 10, #ARGV, 2 do
  redis.call('HINCRBY', KEYS[8], ARGV[6] .. ARGV[i], ARGV[i + 1])
end
return 1
