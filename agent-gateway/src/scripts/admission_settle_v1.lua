-- Ends an attempt once: frees its place, corrects its tokens. On Redis's clock.
--
-- KEYS[1]  hash  agon:limits:{pool}:<key id>    see admission_reserve
-- KEYS[2]  zset  agon:attempts:{pool}:<key id>  attempt -> when it counts as lost (ms)
-- ARGV[1]  attempt
-- ARGV[2]  tokens to give back; negative when more was used than estimated
--
-- Result   1 settled, 0 settled before or lost (then it stays charged)
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local lost_at = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not lost_at then
  return 0
end
redis.call('ZREM', KEYS[2], ARGV[1])
if tonumber(lost_at) <= now then
  return 0
end
-- Without a token limit there is nothing to correct.
if tonumber(ARGV[2]) ~= 0 and redis.call('HEXISTS', KEYS[1], 't') == 1 then
  redis.call('HINCRBYFLOAT', KEYS[1], 't', ARGV[2])
end
return 1
