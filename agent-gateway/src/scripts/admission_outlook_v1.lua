-- How one key stands. Read only, on Redis's clock.
--
-- KEYS[1]  hash  agon:limits:{pool}:<key id>    field h: held until (ms)
-- KEYS[2]  zset  agon:attempts:{pool}:<key id>  attempt -> when it counts as lost (ms)
--
-- Result   {milliseconds held, attempts in flight}
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local held = math.max(tonumber(redis.call('HGET', KEYS[1], 'h') or '0') - now, 0)
return {math.ceil(held), redis.call('ZCOUNT', KEYS[2], string.format('(%.3f', now), '+inf')}
