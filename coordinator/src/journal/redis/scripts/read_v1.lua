#!lua flags=no-writes
-- Reads batches behind a place, until they are more than so many bytes; at least one.
--
-- KEYS     batches (stream: <place>-0 -> b, the batch)
-- ARGV     place, most bytes
-- Returns  place, batch, place, batch ...

local found, bytes, start = {}, 0, '(' .. ARGV[1] .. '-0'
while true do
  local entry = redis.call('XRANGE', KEYS[1], start, '+', 'COUNT', 1)[1]
  if not entry then return found end
  local batch = entry[2][2]
  bytes = bytes + #batch
  if bytes > tonumber(ARGV[2]) and #found > 0 then return found end
  found[#found + 1] = string.match(entry[1], '%d+')
  found[#found + 1] = batch
  start = '(' .. entry[1]
end
