-- Charges holds in full whose time is over: their holders have died, and nobody knows what the
-- calls cost. On Redis's clock.
--
-- KEYS[1]  hash  agon:purse:{money}:holds     attempt -> JSON [most, day, row, team scope,
--                                             experiment scope]
-- KEYS[2]  zset  agon:purse:{money}:due       attempt -> when its hold counts as lost (ms)
-- KEYS[3]  zset  agon:purse:{money}:lost      attempt -> when it can no longer be corrected (ms)
-- KEYS[4]  hash  agon:purse:{money}:spent     scope -> amount
-- KEYS[5]  hash  agon:purse:{money}:reserved  scope -> amount
-- KEYS[6]  set   agon:purse:{money}:days      days that have rows
--          and the rows of the holds' days, <prefix><day>, under the same tag
-- ARGV[1]  prefix of the rows' keys
-- ARGV[2]  the most holds to look at
-- ARGV[3]  milliseconds that a lost hold may still be corrected
--
-- Result   how many holds were charged
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local over = string.format('%.0f', now)
for _, attempt in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', over, 'LIMIT', 0, ARGV[2])) do
  redis.call('HDEL', KEYS[1], attempt)
  redis.call('ZREM', KEYS[3], attempt)
end
local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', over, 'LIMIT', 0, ARGV[2])
for _, attempt in ipairs(due) do
  redis.call('ZREM', KEYS[2], attempt)
  local note = redis.call('HGET', KEYS[1], attempt)
  if note then
    local hold = cjson.decode(note)
    local most, day, row = hold[1], hold[2], hold[3]
    -- "-0" is no number to Redis.
    local less = most == '0' and most or '-' .. most
    for i = 4, 5 do
      if hold[i] ~= '' then
        redis.call('HINCRBY', KEYS[5], hold[i], less)
        redis.call('HINCRBY', KEYS[4], hold[i], most)
      end
    end
    redis.call('SADD', KEYS[6], day)
    redis.call('HINCRBY', ARGV[1] .. day, row .. 'calls', 1)
    redis.call('HINCRBY', ARGV[1] .. day, row .. 'cost', most)
    redis.call('ZADD', KEYS[3], string.format('%.0f', now + tonumber(ARGV[3])), attempt)
  end
end
return #due
