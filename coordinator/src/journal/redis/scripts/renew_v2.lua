#!lua
-- Lets the owner stay for another ttl; one of 0 ms is a resignation.
--
-- KEYS     state (hash: epoch, owner, expires_ms, ttl_ms, end, snapshot_upto)
-- ARGV     epoch, ttl in ms
-- Returns  1, or 0 when the epoch has passed

local state = KEYS[1]
if redis.call('HGET', state, 'epoch') ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2]
redis.call('HSET', state, 'ttl_ms', ARGV[2], 'expires_ms', string.format('%.0f', until_ms))
return 1
