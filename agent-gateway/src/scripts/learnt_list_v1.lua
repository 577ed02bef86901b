-- What replicas have learnt that servers refuse, without what is over.
--
-- KEYS[1]  hash  agon:learnt   see learnt_keep
--
-- Result   {name, how much longer it holds (ms), lesson as JSON, name, ...}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stored, told = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #stored, 2 do
  local ends, lesson = string.match(stored[i + 1], '^(%d+)|(.*)$')
  if ends and tonumber(ends) > now then
    told[#told + 1] = stored[i]
    told[#told + 1] = string.format('%.0f', tonumber(ends) - now)
    told[#told + 1] = lesson
  end
end
return told
