-- Ends an attempt once: frees its place, corrects its charge and its team's share; lowers what is
-- believed to what the provider's headers say. Begins with admission_scope.
--
-- KEYS[1]  string  scope of the key over all lanes
-- KEYS[2]  string  its scope in the lane
-- KEYS[3]  string  agon:served:{pool}[:<lane>], see admission_reserve
-- KEYS[4]  zset    agon:attempts:{pool}:<key>
-- ARGV[1]  member of the zset
-- ARGV[2]  JSON: back = [requests, tokens, input, output to give back; negative when more was used],
--            team, share = what to add to the team's share (tokens by weight),
--            burst (s), limits = [4 configured in the lane, 0 none],
--            shown = [4 limits in headers, 0 unknown], left = [4 left by headers, -1 unknown]
--
-- Result   1 settled, 0 settled before or lost (then it stays charged)
local p = cjson.decode(ARGV[2])
local settled = 0
local lost_at = redis.call('ZSCORE', KEYS[4], ARGV[1])
-- Who comes too late leaves the attempt to be found lost, so that it is charged in full.
if lost_at and tonumber(lost_at) > now then
  settled = 1
  redis.call('ZREM', KEYS[4], ARGV[1])
  redis.call('ZREM', KEYS[2] .. ':flying', ARGV[1])
end

local stored = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
local back = p.back
local corrects = settled == 1 and
  (back[1] ~= 0 or back[2] ~= 0 or back[3] ~= 0 or back[4] ~= 0)
local function correct(scope)
  for q = 1, 4 do
    -- Without a limit there is nothing to correct.
    if scope[LEFT + q] then
      scope[LEFT + q] = scope[LEFT + q] + back[q]
    end
    scope[USED + q] = scope[USED + q] - back[q]
  end
  -- Who was not made leaves the newest hour that has requests.
  for i = back[1] > 0 and #scope or 0, DAYS + 1, -2 do
    if scope[i] > 0 then
      scope[i] = scope[i] - 1
      break
    end
  end
end

if corrects and stored[1] then
  local key_wide = open_scope(stored[1])
  correct(key_wide)
  keep_scope(KEYS[1], key_wide)
end
if settled == 1 and p.share ~= 0 and stored[3] then
  local served = cmsgpack.unpack(stored[3])
  if served[p.team] then
    served[p.team][1] = served[p.team][1] + p.share
    redis.call('SET', KEYS[3], cmsgpack.pack(served), 'PX', idle_ms)
  end
end

local heeds = false
for q = 1, 4 do
  heeds = heeds or p.shown[q] > 0 or p.left[q] >= 0
end
if not heeds and not (corrects and stored[2]) then
  return settled
end
local in_lane = open_scope(stored[2])
if corrects and stored[2] then
  correct(in_lane)
end

-- Lowering one level means bringing all of the scope up to now, since they share one time.
local lowered, levels = false, {}
for q = 1, heeds and 4 or 0 do
  if p.shown[q] > 0 then
    in_lane[SHOWN + q] = p.shown[q]
  end
  local limit, shown = p.limits[q], in_lane[SHOWN + q]
  if shown > 0 and (limit == 0 or shown < limit) then
    limit = shown
  end
  if limit > 0 then
    local size = math.min(limit * p.burst / 60, math.max(limit / 2, 1))
    local level, left = size, in_lane[LEFT + q]
    if left then
      local refill = math.max(limit - size, limit / 2) / 60000
      level = left + math.max(now - in_lane[AT], 0) * refill
      -- A level above the burst was gathered for a large charge.
      level = math.min(level, math.max(size, left))
    end
    if p.left[q] >= 0 and p.left[q] < level then
      level, lowered = p.left[q], true
    end
    levels[q] = level
  end
end
if lowered then
  in_lane[AT] = now
  for q, level in pairs(levels) do
    in_lane[LEFT + q] = level
  end
end
keep_scope(KEYS[2], in_lane)
return settled
