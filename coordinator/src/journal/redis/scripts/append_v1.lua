#!lua
-- Appends a batch behind the last one. The same batch at a place that is taken is not appended
-- again and counts as appended.
--
-- KEYS     state (hash: epoch, owner, expires_ms, end, snapshot_upto)
--          batches (stream: <place>-0 -> b, the batch)
-- ARGV     epoch, place, batch
-- Returns  'appended', 'deposed', or the place of the last batch when it is not the one before

local state, batches = KEYS[1], KEYS[2]
local epoch, place, batch = ARGV[1], ARGV[2], ARGV[3]
local id = place .. '-0'
local held = redis.call('HMGET', state, 'epoch', 'end')
if held[1] ~= epoch then return 'deposed' end
local last = held[2] or '0'
if tonumber(place) == tonumber(last) + 1 then
  redis.call('XADD', batches, id, 'b', batch)
  redis.call('HSET', state, 'end', place)
  return 'appended'
end
local there = redis.call('XRANGE', batches, id, id)[1]
if there and there[2][2] == batch then return 'appended' end
return last
