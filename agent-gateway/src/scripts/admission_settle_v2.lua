-- Ends an attempt once: frees its place, corrects its charge and its team's share; lowers what is
-- believed to what the provider's headers say. On Redis's clock.
--
-- KEYS[1]  hash  agon:limits:{pool}:<key>         see admission_reserve
-- KEYS[2]  hash  agon:limits:{pool}:<key>:<lane>
-- KEYS[3]  zset  agon:attempts:{pool}:<key>
-- KEYS[4]  hash  agon:shares:{pool}[:<lane>]
-- ARGV[1]  member of the zset
-- ARGV[2]  JSON: back = [tokens, input, output to give back; negative when more was used],
--            team, share = what to add to the team's share (tokens by weight),
--            burst (s), limits = [4 configured in the lane, 0 none],
--            shown = [4 limits in headers, 0 unknown], left = [4 left by headers, -1 unknown]
--
-- Result   1 settled, 0 settled before or lost (then it stays charged)
local p = cjson.decode(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000

local settled = 0
local lost_at = redis.call('ZSCORE', KEYS[3], ARGV[1])
if lost_at then
  -- Who comes too late leaves the attempt to be found lost, so that it is charged in full.
  if tonumber(lost_at) > now then
    settled = 1
    redis.call('ZREM', KEYS[3], ARGV[1])
    redis.call('ZREM', KEYS[2] .. ':flying', ARGV[1])
    for _, scope in ipairs({KEYS[1], KEYS[2]}) do
      for q = 2, 4 do
        local back = p.back[q - 1]
        if back ~= 0 then
          -- Without a limit there is nothing to correct.
          if redis.call('HEXISTS', scope, 'l' .. q) == 1 then
            redis.call('HINCRBYFLOAT', scope, 'l' .. q, back)
          end
          if redis.call('HEXISTS', scope, 'u' .. q) == 1 then
            redis.call('HINCRBYFLOAT', scope, 'u' .. q, -back)
          end
        end
      end
    end
    if p.share ~= 0 and redis.call('HEXISTS', KEYS[4], 'v:' .. p.team) == 1 then
      redis.call('HINCRBYFLOAT', KEYS[4], 'v:' .. p.team, p.share)
    end
  end
end

-- Lowering one level means bringing all of the scope up to now, since they share one time.
local raw, lowered, levels = nil, false, {}
for q = 1, 4 do
  if p.shown[q] > 0 then
    redis.call('HSET', KEYS[2], 's' .. q, p.shown[q])
    redis.call('PEXPIRE', KEYS[2], math.max(7200000, redis.call('PTTL', KEYS[2])))
  end
end
for q = 1, 4 do
  local limit = p.limits[q]
  if p.shown[q] > 0 and (limit == 0 or p.shown[q] < limit) then
    limit = p.shown[q]
  end
  if limit > 0 then
    raw = raw or redis.call('HMGET', KEYS[2], 'l1', 'l2', 'l3', 'l4', 'a')
    local size = limit * p.burst / 60
    size = math.min(size, math.max(limit / 2, 1))
    local level = size
    if raw[q] then
      local refill = math.max(limit - size, limit / 2) / 60000
      level = tonumber(raw[q]) + math.max(now - tonumber(raw[5] or now), 0) * refill
      -- A level above the burst was gathered for a large charge.
      level = math.min(level, math.max(size, tonumber(raw[q])))
    end
    if p.left[q] >= 0 and p.left[q] < level then
      level, lowered = p.left[q], true
    end
    levels[q] = level
  end
end
if lowered then
  local fields = {'a', string.format('%.3f', now)}
  for q, level in pairs(levels) do
    fields[#fields + 1] = 'l' .. q
    fields[#fields + 1] = string.format('%.6f', level)
  end
  redis.call('HSET', KEYS[2], unpack(fields))
  redis.call('PEXPIRE', KEYS[2], math.max(7200000, redis.call('PTTL', KEYS[2])))
end
return settled
