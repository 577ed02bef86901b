-- Keeps what one replica has learnt that servers refuse, for all of them. Drops what is over, and
-- what is over first when there is too much.
--
-- KEYS[1]  hash  agon:learnt   name of a lesson -> "<end, ms of Redis's clock>|<lesson as JSON>"
-- ARGV[1]  the most lessons that are kept
-- ARGV[2]  name of a lesson; ARGV[3] how much longer it holds, ms; ARGV[4] the lesson as JSON;
--            and so on by threes
--
-- Result   how many lessons there are
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV, 3 do
  local ends = string.format('%.0f', now + tonumber(ARGV[i + 1]))
  redis.call('HSET', KEYS[1], ARGV[i], ends .. '|' .. ARGV[i + 2])
end
local stored = redis.call('HGETALL', KEYS[1])
local ends, last = {}, now
for i = 1, #stored, 2 do
  local over = tonumber(string.match(stored[i + 1], '^(%d+)|')) or 0
  ends[#ends + 1] = {over, stored[i]}
  last = math.max(last, over)
end
table.sort(ends, function(one, other) return one[1] < other[1] end)
local most, left = tonumber(ARGV[1]), #ends
for _, lesson in ipairs(ends) do
  if lesson[1] > now and left <= most then
    break
  end
  redis.call('HDEL', KEYS[1], lesson[2])
  left = left - 1
end
if left > 0 then
  redis.call('PEXPIRE', KEYS[1], last - now)
end
return left
