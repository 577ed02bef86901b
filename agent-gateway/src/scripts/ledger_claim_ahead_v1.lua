-- Claims the addresses that a seat will ask next, before it does: those in a row, from the first,
-- that nobody has answered or claimed. On Redis's clock.
--
-- KEYS[1]  hash  agon:ledger:{session}   field "seat/index" -> decision as JSON
-- KEYS[2]  hash  agon:claims:{session}   field "seat/index" -> "expires_ms holder digest";
--                digest "-": nobody knows the request yet
-- ARGV[1]  seat
-- ARGV[2]  first index
-- ARGV[3]  how many
-- ARGV[4]  prefix of the holders; the holder of an index is "<prefix>+<index>"
-- ARGV[5]  milliseconds that the claims last
--
-- Result   how many are claimed in these names
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expires = string.format('%.0f', now + tonumber(ARGV[5]))
local claimed, number = {}, 0
for index = tonumber(ARGV[2]), tonumber(ARGV[2]) + tonumber(ARGV[3]) - 1 do
  local name = string.format('%.0f', index)
  local field = ARGV[1] .. '/' .. name
  local own = ARGV[4] .. '+' .. name
  local held_until, holder = string.match(redis.call('HGET', KEYS[2], field) or '', '^(%d+) (%S+) ')
  local held = held_until and tonumber(held_until) > now
  if (held and holder ~= own) or redis.call('HEXISTS', KEYS[1], field) == 1 then
    break
  end
  -- Its question may have come before this.
  if not held then
    claimed[#claimed + 1] = field
    claimed[#claimed + 1] = expires .. ' ' .. own .. ' -'
  end
  number = number + 1
end
if #claimed > 0 then
  redis.call('HSET', KEYS[2], unpack(claimed))
  redis.call('PEXPIRE', KEYS[2], math.max(tonumber(ARGV[5]) * 4, redis.call('PTTL', KEYS[2])))
end
return number
