-- Grants the heads of one replica's line, in their order: each takes every limit of the key with
-- most headroom at once, or nothing. Keeps the shares of teams over all replicas. On Redis's
-- clock. The arithmetic is that of admission/bucket.rs, day.rs and scope.rs; the contract tests
-- hold them together.
--
-- KEYS[3i-2]  hash  agon:limits:{pool}:<key>         of candidate i: its limits over all lanes
-- KEYS[3i-1]  hash  agon:limits:{pool}:<key>:<lane>  the same in this lane
--               l1..l4, a  requests, tokens, input tokens, output tokens left, and when (ms)
--               s1..s4     limits that the provider's headers showed
--               h          held until (ms)
--               m, u1..u4, p1..p4  minute, and what was taken in it and in the one before
--               w, wu      the asker that gathers for a charge above the burst, until when (ms)
-- KEYS[3i]    zset  agon:attempts:{pool}:<key>       <attempt>|<lane>|<t>|<i>|<o> -> when it counts
--               as lost (ms); t, i, o: tokens it is charged with beside what was taken
-- KEYS[3n+1]  hash  agon:shares:{pool}[:<lane>]      v:<team> -> tokens served by weight,
--               s:<team> -> when it last waited (ms); without lane when lines share limits
-- Derived, in the same slot: <limits hash>:day, hash of hour -> requests;
--               <limits hash of the lane>:flying, zset of attempts in the lane
-- ARGV[1]     JSON: lane, asker, burst (s), recheck (ms), rate (cost/s of the pool, 0 unknown),
--               spans (lines share limits: whom only its own line stops does not hold up others),
--               candidates [{k = [4 limits, 0 none], kd, kc, l = [...], ld, lc, room or -1}],
--               asks [{a, c = [4 amounts], m = [3 extras], lost (ms), team, w, cost, x = [indexes],
--                 again: perhaps granted by a call whose reply was lost}],
--               waiting [[team, weight]]
--
-- Result      {wait ms, g1, g2, ...}  one per ask: the candidate, counted from 1, or 0
local p = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local minute, hour = math.floor(now / 60000), math.floor(now / 3600000)
local idle_ms, active_ms, gather_ms, hours_kept = 7200000, 300, 300, 25
local shares = KEYS[#KEYS]

local function debit_lost(scope, extras)
  for q = 2, 4 do
    local extra = tonumber(extras[q - 1])
    if extra ~= 0 and redis.call('HEXISTS', scope, 'l' .. q) == 1 then
      redis.call('HINCRBYFLOAT', scope, 'l' .. q, -extra)
    end
  end
end

local function reclaim(key_wide, attempts)
  local lost = redis.call('ZRANGEBYSCORE', attempts, '-inf', string.format('%.3f', now), 'LIMIT', 0, 1000)
  for _, member in ipairs(lost) do
    local name, lane, t, i, o = string.match(member, '^(.-)|(.*)|(%-?%d+)|(%-?%d+)|(%-?%d+)$')
    redis.call('ZREM', attempts, member)
    if name then
      redis.call('ZREM', key_wide .. ':' .. lane .. ':flying', member)
      debit_lost(key_wide, {t, i, o})
      debit_lost(key_wide .. ':' .. lane, {t, i, o})
    end
  end
end

local function day_of(scope, limit)
  local wait, used = 0, 0
  if limit > 0 then
    local log, flat = {}, redis.call('HGETALL', scope .. ':day')
    for i = 1, #flat, 2 do
      local h = tonumber(flat[i])
      if h + hours_kept > hour then
        log[#log + 1] = {h, tonumber(flat[i + 1])}
        used = used + tonumber(flat[i + 1])
      else
        redis.call('HDEL', scope .. ':day', flat[i])
      end
    end
    table.sort(log, function(a, b) return a[1] < b[1] end)
    return {limit = limit, used = used, log = log}
  end
  return nil
end

local function day_wait(day)
  if not day or day.used < day.limit then
    return 0
  end
  local excess = day.used + 1 - day.limit
  for _, entry in ipairs(day.log) do
    if entry[2] >= excess then
      return (entry[1] + hours_kept) * 3600000 - now
    end
    excess = excess - entry[2]
  end
  return 0
end

local names = {'l1', 'l2', 'l3', 'l4', 'a', 's1', 's2', 's3', 's4', 'h', 'w', 'wu',
  'm', 'u1', 'u2', 'u3', 'u4'}
local function scope_of(key, limits, day_limit)
  local raw = redis.call('HMGET', key, unpack(names))
  local scope = {key = key, left = {}, limit = {}, taken = {0, 0, 0, 0}, used = false,
    at = tonumber(raw[5] or now), held = tonumber(raw[10] or 0), day = day_of(key, day_limit),
    gatherer = raw[11], gathers_until = tonumber(raw[12] or 0),
    minute = tonumber(raw[13] or -1), use = {raw[14], raw[15], raw[16], raw[17]}}
  for q = 1, 4 do
    scope.left[q] = raw[q] and tonumber(raw[q])
    local shown = tonumber(raw[5 + q] or 0)
    local limit = limits[q]
    if shown > 0 and (limit == 0 or shown < limit) then
      limit = shown
    end
    scope.limit[q] = limit
  end
  return scope
end

local function terms(limit, charge)
  local half = limit / 2
  local size = math.min(math.max(charge, limit * p.burst / 60), math.max(half, 1))
  return size, math.max(limit - size, half) / 60000, math.min(charge, size)
end

-- Wait (ms), share of the scarcest limit, and whether the charge is larger than the burst.
local function look(scope, charge)
  local wait, share, large = math.max(scope.held - now, 0), 1, false
  for q = 1, 4 do
    local limit = scope.limit[q]
    if limit > 0 then
      local size, refill, needed = terms(limit, charge[q])
      local level = size
      if scope.left[q] then
        level = math.min(size, scope.left[q] + math.max(now - scope.at, 0) * refill)
      end
      wait = math.max(wait, (needed - level) / refill)
      share = math.min(share, level / size)
      large = large or charge[q] > limit * p.burst / 60
    end
  end
  return math.max(wait, day_wait(scope.day)), share, large
end

-- All levels of a scope share one time, so every take brings all of them up to now.
local function take(scope, charge)
  for q = 1, 4 do
    local limit = scope.limit[q]
    if limit > 0 then
      local size, refill = terms(limit, charge[q])
      local level = size
      if scope.left[q] then
        level = math.min(size, scope.left[q] + math.max(now - scope.at, 0) * refill)
      end
      scope.left[q] = level - charge[q]
    end
    scope.taken[q] = scope.taken[q] + charge[q]
  end
  scope.at = now
  scope.used = true
  if scope.day then
    scope.day.used = scope.day.used + 1
  end
end

local function write(scope)
  local fields = {'a', string.format('%.3f', scope.at)}
  for q = 1, 4 do
    if scope.left[q] then
      fields[#fields + 1] = 'l' .. q
      fields[#fields + 1] = string.format('%.6f', scope.left[q])
    end
  end
  local passed = minute - scope.minute
  for q = 1, 4 do
    local this = tonumber(scope.use[q] or 0)
    if passed > 0 then
      fields[#fields + 1] = 'p' .. q
      fields[#fields + 1] = passed == 1 and this or 0
      this = 0
    end
    fields[#fields + 1] = 'u' .. q
    fields[#fields + 1] = this + scope.taken[q]
  end
  fields[#fields + 1] = 'm'
  fields[#fields + 1] = minute
  redis.call('HSET', scope.key, unpack(fields))
  -- Counted without a limit too, which may come later.
  redis.call('HINCRBY', scope.key .. ':day', hour, scope.taken[1])
  -- The rest once a minute is enough.
  if passed == 0 then
    return
  end
  redis.call('PEXPIRE', scope.key .. ':day', 100000000)
  if redis.call('HLEN', scope.key .. ':day') > 2 * hours_kept then
    for _, past in ipairs(redis.call('HKEYS', scope.key .. ':day')) do
      if tonumber(past) + hours_kept <= hour then
        redis.call('HDEL', scope.key .. ':day', past)
      end
    end
  end
  -- What nobody uses any more leaves by itself; by then it is full.
  redis.call('PEXPIRE', scope.key, math.max(idle_ms, redis.call('PTTL', scope.key)))
end

local candidates = {}
for i, c in ipairs(p.candidates) do
  local key_wide, in_lane, attempts = KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i]
  reclaim(key_wide, attempts)
  local lane_flying = 0
  if c.lc > 0 then
    lane_flying = redis.call('ZCARD', in_lane .. ':flying')
  end
  candidates[i] = {
    key_wide = scope_of(key_wide, c.k, c.kd), in_lane = scope_of(in_lane, c.l, c.ld),
    attempts = attempts, flying = redis.call('ZCARD', attempts), lane_flying = lane_flying,
    places = c.kc, lane_places = c.lc, room = c.room}
end

-- Teams that wait anywhere; who joins starts level with the least served of them.
local virtual, active, least, weights = {}, {}, nil, 0
local flat = redis.call('HGETALL', shares)
local seen = {}
for i = 1, #flat, 2 do
  local kind, team = string.sub(flat[i], 1, 2), string.sub(flat[i], 3)
  if kind == 'v:' then
    virtual[team] = tonumber(flat[i + 1])
  else
    seen[team] = tonumber(flat[i + 1])
  end
end
for team, at in pairs(seen) do
  if now - at <= active_ms then
    active[team] = true
    least = math.min(least or virtual[team] or 0, virtual[team] or 0)
  elseif now - at > idle_ms then
    redis.call('HDEL', shares, 'v:' .. team, 's:' .. team)
  end
end
for team in pairs(virtual) do
  if not seen[team] then
    redis.call('HDEL', shares, 'v:' .. team)
  end
end
local joined = {}
for _, entry in ipairs(p.waiting) do
  local team = entry[1]
  weights = weights + entry[2]
  if not active[team] then
    virtual[team] = math.max(virtual[team] or 0, least or 0)
    joined[#joined + 1] = team
  end
  active[team] = true
end
local function least_served()
  local lowest
  for team in pairs(active) do
    lowest = math.min(lowest or virtual[team] or 0, virtual[team] or 0)
  end
  return lowest or 0
end

local function gather(scope)
  if scope.gatherer and scope.gatherer ~= p.asker and scope.gathers_until > now then
    return
  end
  redis.call('HSET', scope.key, 'w', p.asker, 'wu', string.format('%.3f', now + gather_ms))
  redis.call('PEXPIRE', scope.key, math.max(idle_ms, redis.call('PTTL', scope.key)))
end

-- The candidate that has this attempt already.
local function granted_before(member)
  for i, c in ipairs(candidates) do
    if redis.call('ZSCORE', c.attempts, member) then
      return i
    end
  end
end

local result, wait, touched = {0}, nil, {}
local stopped, stopped_by_lane, granted_any = false, false, false
for n, ask in ipairs(p.asks) do
  result[n + 1] = 0
  local member = ask.a .. '|' .. p.lane .. '|' .. table.concat(ask.m, '|')
  local before = ask.again and granted_before(member)
  local slack = math.max(2 * ask.cost / ask.w, p.rate / 10 / math.max(weights, ask.w))
  if before then
    result[n + 1] = before
  elseif stopped then
    -- Order is kept: nobody passes a head that waits for quota.
  elseif (virtual[ask.team] or 0) > least_served() + slack then
    wait = math.min(wait or p.recheck, p.recheck)
  else
    local best, best_share, best_flying, soonest, soonest_index, soonest_large, soonest_lane
    local excluded = {}
    for _, index in ipairs(ask.x) do
      excluded[index] = true
    end
    for i, c in ipairs(candidates) do
      if not excluded[i] then
        local wait_key, share_key, large_key = look(c.key_wide, ask.c)
        local wait_lane, share_lane, large_lane = look(c.in_lane, ask.c)
        local until_free, share = math.max(wait_key, wait_lane), math.min(share_key, share_lane)
        local lane_stops = wait_lane > wait_key
        for n_places, places in ipairs({{c.places, c.flying}, {c.lane_places, c.lane_flying}}) do
          if places[1] > 0 then
            if places[2] >= places[1] and until_free < p.recheck then
              until_free, lane_stops = p.recheck, n_places == 2
            end
            share = math.min(share, (places[1] - places[2]) / places[1])
          end
        end
        if c.room == 0 and until_free < p.recheck then
          until_free, lane_stops = p.recheck, true
        end
        for n_scope, scope in ipairs({c.key_wide, c.in_lane}) do
          if scope.gatherer and scope.gatherer ~= p.asker and scope.gathers_until > now
            and until_free < p.recheck then
            until_free, lane_stops = p.recheck, n_scope == 2
          end
        end
        if until_free > 0 then
          if not soonest or until_free < soonest then
            soonest, soonest_index = until_free, i
            soonest_lane = lane_stops
            soonest_large = {large_key and c.key_wide or nil, large_lane and c.in_lane or nil}
          end
        elseif not best or share > best_share or (share == best_share and c.flying < best_flying) then
          best, best_share, best_flying = i, share, c.flying
        end
      end
    end
    if best then
      local c = candidates[best]
      take(c.key_wide, ask.c)
      take(c.in_lane, ask.c)
      c.flying, c.lane_flying = c.flying + 1, c.lane_flying + 1
      if c.room > 0 then
        c.room = c.room - 1
      end
      local lost_at = string.format('%.3f', now + ask.lost)
      redis.call('ZADD', c.attempts, lost_at, member)
      redis.call('ZADD', c.in_lane.key .. ':flying', lost_at, member)
      if c.in_lane.minute ~= minute then
        redis.call('PEXPIRE', c.attempts, idle_ms)
        redis.call('PEXPIRE', c.in_lane.key .. ':flying', idle_ms)
      end
      for _, scope in ipairs({c.key_wide, c.in_lane}) do
        if scope.gatherer == p.asker then
          redis.call('HDEL', scope.key, 'w', 'wu')
          scope.gatherer = nil
        end
      end
      virtual[ask.team] = (virtual[ask.team] or 0) + ask.cost / ask.w
      touched[ask.team] = true
      result[n + 1] = best
      granted_any = true
    else
      wait = math.min(wait or soonest or p.recheck, soonest or p.recheck)
      if #ask.x == 0 then
        stopped, stopped_by_lane = true, soonest_lane
        -- A charge above the burst has to be gathered for: until then nobody else takes. Who was
        -- just served lets another asker gather first.
        if not granted_any then
          for _, scope in pairs(soonest_large or {}) do
            gather(scope)
          end
        end
      end
    end
  end
end

for _, c in ipairs(candidates) do
  if c.key_wide.used then
    write(c.key_wide)
    write(c.in_lane)
  end
end
local fields = {}
if granted_any or not (p.spans and stopped_by_lane) then
  for _, entry in ipairs(p.waiting) do
    fields[#fields + 1] = 's:' .. entry[1]
    fields[#fields + 1] = string.format('%.3f', now)
  end
end
for _, team in ipairs(joined) do
  touched[team] = true
end
for team in pairs(touched) do
  fields[#fields + 1] = 'v:' .. team
  fields[#fields + 1] = string.format('%.3f', virtual[team])
end
-- In portions, because a call takes only so many arguments.
for from = 1, #fields, 1000 do
  redis.call('HSET', shares, unpack(fields, from, math.min(from + 999, #fields)))
end
if #fields > 0 and candidates[1].in_lane.minute ~= minute then
  redis.call('PEXPIRE', shares, idle_ms)
end
result[1] = math.ceil(wait or 0)
return result
