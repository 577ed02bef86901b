-- How one key stands in a lane. Read only. Begins with admission_scope.
--
-- KEYS[1]  string  scope of the key over all lanes
-- KEYS[2]  string  its scope in the lane
-- KEYS[3]  zset    agon:attempts:{pool}:<key>, see admission_reserve
--
-- Result   {ms held, in flight, requests of the day, the same in the lane,
--           4 x {limit shown by headers or 0, taken in the last minute} of the key, the same in the lane}
local scopes = {open_scope(redis.call('GET', KEYS[1])), open_scope(redis.call('GET', KEYS[2]))}

local function of_day(scope)
  local used = 0
  for i = DAYS, #scope, 2 do
    if scope[i] + hours_kept > hour then
      used = used + scope[i + 1]
    end
  end
  return used
end

local result = {math.ceil(math.max(scopes[2][HELD] - now, 0)),
  redis.call('ZCOUNT', KEYS[3], string.format('(%.3f', now), '+inf'),
  of_day(scopes[1]), of_day(scopes[2])}
for _, scope in ipairs(scopes) do
  local passed = minute - scope[MINUTE]
  for q = 1, 4 do
    local this, before = scope[USED + q], scope[BEFORE + q]
    if passed > 0 then
      this, before = 0, passed == 1 and this or 0
    end
    result[#result + 1] = scope[SHOWN + q]
    result[#result + 1] = math.floor(math.max(this + before * (1 - (now / 60000 - minute)), 0) + 0.5)
  end
end
return result
