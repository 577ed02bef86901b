#!lua
-- Puts a snapshot that was uploaded under a key of its own in place of the last one, and drops
-- batches. A journal that ends before the snapshot lost its tail: it ends where the snapshot does.
-- One that is older than the last was delayed on its way, behind it, and changes nothing.
--
-- KEYS     state (hash: epoch, owner, expires_ms, end, snapshot_upto)
--          batches (stream: <place>-0 -> b, the batch), snapshot (string), uploaded (string)
-- ARGV     epoch, last place in the snapshot, last place to drop, length of the snapshot
-- Returns  'put' (also of an older one), 'deposed', or 'lost' when the upload is not there as it was made

local state, batches, snapshot, uploaded = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local epoch, upto, trim_to = ARGV[1], ARGV[2], ARGV[3]
local held = redis.call('HMGET', state, 'epoch', 'end', 'snapshot_upto')
local complete = redis.call('STRLEN', uploaded) == tonumber(ARGV[4])
if held[1] ~= epoch or not complete then
  redis.call('UNLINK', uploaded)
  return held[1] ~= epoch and 'deposed' or 'lost'
end
if tonumber(upto) < tonumber(held[3] or 0) then
  redis.call('UNLINK', uploaded)
  return 'put'
end
redis.call('PERSIST', uploaded)
redis.call('RENAME', uploaded, snapshot)
redis.call('HSET', state, 'snapshot_upto', upto)
if tonumber(held[2] or 0) < tonumber(upto) then
  redis.call('UNLINK', batches)
  redis.call('HSET', state, 'end', upto)
else
  redis.call('XTRIM', batches, 'MINID', string.format('%.0f-0', trim_to + 1))
end
return 'put'
