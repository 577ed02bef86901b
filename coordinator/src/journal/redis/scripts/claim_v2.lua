#!lua
-- Makes the caller the owner unless another one has been heard of within its ttl.
-- Epochs are microseconds of Redis's clock, so that one which a lost tail made Redis forget is not
-- given twice. An owner that has more than a ttl left was heard of before the clock was set back: it
-- has a ttl from now on.
--
-- KEYS     state (hash: epoch, owner, expires_ms, ttl_ms, end, snapshot_upto)
-- ARGV     owner, ttl in ms
-- Returns  { epoch } when it is granted, else { '', the owner, ms that are left }

local state = KEYS[1]
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', state, 'epoch', 'owner', 'expires_ms', 'ttl_ms')
local left = tonumber(held[3] or 0) - now_ms
-- An owner of an older version says nothing of its ttl.
local most = math.max(tonumber(held[4] or 0), tonumber(ARGV[2]))
if left > most then
  left = most
  redis.call('HSET', state, 'expires_ms', string.format('%.0f', now_ms + most))
end
if left > 0 then return { '', held[2], left } end
local epoch = math.max(tonumber(held[1] or 0) + 1, time[1] * 1000000 + time[2])
epoch = string.format('%.0f', epoch)
redis.call('HSET', state, 'epoch', epoch, 'owner', ARGV[1], 'ttl_ms', ARGV[2], 'expires_ms',
  string.format('%.0f', now_ms + ARGV[2]))
return { epoch }
