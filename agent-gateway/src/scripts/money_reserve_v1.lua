-- Holds the most that a call may cost in the budgets of its team and its experiment, in both or
-- in neither. On Redis's clock. Amounts are whole nano-dollars below 2^53, so that they compare
-- exactly here.
--
-- KEYS[1]  hash  agon:purse:{money}:holds     attempt -> JSON [most, day, row, team scope,
--                                             experiment scope]
-- KEYS[2]  zset  agon:purse:{money}:due       attempt -> when its hold counts as lost (ms)
-- KEYS[3]  hash  agon:purse:{money}:spent     scope ("team/NAME", "experiment/ID") -> amount
-- KEYS[4]  hash  agon:purse:{money}:reserved  scope -> amount
-- KEYS[5]  hash  agon:purse:{money}:budgets   scope -> the last budget that was named
-- ARGV[1]  attempt, unique among all replicas
-- ARGV[2]  the most that the call may cost
-- ARGV[3]  milliseconds until the hold counts as lost
-- ARGV[4]  the hold as in KEYS[1]
-- ARGV[5], ARGV[6]  scope of the team, its budget ("" for none)
-- ARGV[7], ARGV[8]  scope of the experiment ("" for none), its budget ("" for none)
-- ARGV[9]  "look" to be told only what would become of it; else "hold"
--
-- Result   {"granted"}                        the hold stands (also when it stood before)
--          {"wait", scope}                    it would fit if calls under way cost less
--          {"spent", scope, spent, reserved}  it does not fit whatever they cost
if ARGV[8] ~= '' then
  redis.call('HSET', KEYS[5], ARGV[7], ARGV[8])
end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return {'granted'}
end
local most = tonumber(ARGV[2])
local waits
for i = 5, 7, 2 do
  if ARGV[i] ~= '' and ARGV[i + 1] ~= '' then
    local budget = tonumber(ARGV[i + 1])
    local spent = redis.call('HGET', KEYS[3], ARGV[i]) or '0'
    local reserved = redis.call('HGET', KEYS[4], ARGV[i]) or '0'
    if tonumber(spent) + most > budget then
      return {'spent', ARGV[i], spent, reserved}
    end
    if not waits and tonumber(spent) + tonumber(reserved) + most > budget then
      waits = ARGV[i]
    end
  end
end
if waits then
  return {'wait', waits}
end
if ARGV[9] == 'look' then
  return {'granted'}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
redis.call('ZADD', KEYS[2], string.format('%.0f', now + tonumber(ARGV[3])), ARGV[1])
for i = 5, 7, 2 do
  if ARGV[i] ~= '' then
    redis.call('HINCRBY', KEYS[4], ARGV[i], ARGV[2])
  end
end
return {'granted'}
