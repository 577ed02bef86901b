-- Notes that a worker is there.
--
-- ARGV     worker, ttl in ms
-- Returns  nothing of use

local now = now_ms()
call('ZADD', P .. 'workers', now + tonumber(ARGV[2]), ARGV[1])
call('ZREMRANGEBYSCORE', P .. 'workers', '-inf', now)
return 0
