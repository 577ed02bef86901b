-- Holds a key in a lane; never shortens a hold. On Redis's clock.
--
-- KEYS[1]  hash  agon:limits:{pool}:<key>:<lane>  field h: held until (ms)
-- ARGV[1]  milliseconds from now
--
-- Result   milliseconds that the key is held from now
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local before = tonumber(redis.call('HGET', KEYS[1], 'h') or '0')
local until_ms = math.max(before, now + tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'h', string.format('%.3f', until_ms))
local stays = math.max(math.ceil(until_ms - now) + 7200000, redis.call('PTTL', KEYS[1]))
redis.call('PEXPIRE', KEYS[1], stays)
return math.ceil(until_ms - now)
