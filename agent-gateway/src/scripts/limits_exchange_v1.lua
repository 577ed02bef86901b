-- Replaces documents if none was changed by somebody else meanwhile.
--
-- KEYS[i]       string  a document: its version, a line break, its text
-- ARGV[1]       the new version of those that are replaced
-- ARGV[2]       how long they stay when nobody touches them (ms)
-- ARGV[2i + 1]  the version in which document i was read, '' when there was none
-- ARGV[2i + 2]  its new text, '' to leave it as it is
--
-- Result        {time (ms), {{i - 1, version, text} of each that was changed, '' when it is gone}}
local stored = redis.call('MGET', unpack(KEYS))
local changed = {}
for i = 1, #KEYS do
  local document = stored[i] or '\n'
  local ends = string.find(document, '\n', 1, true)
  local version = string.sub(document, 1, ends - 1)
  if version ~= ARGV[2 * i + 1] then
    changed[#changed + 1] = {i - 1, version, string.sub(document, ends + 1)}
  end
end
if #changed == 0 then
  for i = 1, #KEYS do
    if ARGV[2 * i + 2] ~= '' then
      redis.call('SET', KEYS[i], ARGV[1] .. '\n' .. ARGV[2 * i + 2], 'PX', ARGV[2])
    end
  end
end
local time = redis.call('TIME')
return {time[1] * 1000 + math.floor(time[2] / 1000), changed}
