-- Grants the heads of one replica's line, in their order: each takes every limit of the key with
-- most headroom at once, or nothing. Keeps the shares of teams over all replicas. The arithmetic is
-- that of admission/bucket.rs, day.rs, scope.rs and fairness/shares.rs; the contract tests hold
-- them together. Begins with admission_scope.
--
-- KEYS[2i-1]    string  scope of candidate i over all lanes
-- KEYS[2i]      string  its scope in this lane
-- KEYS[2n+1]    string  agon:served:{pool}[:<lane>]  MessagePack map: team -> {tokens served by
--                 weight, when it last waited (ms)}; without lane when lines share limits
-- KEYS[2n+1+i]  zset    agon:attempts:{pool}:<key>  <attempt>|<lane>|<t>|<i>|<o> -> when it counts
--                 as lost (ms); t, i, o: tokens it is charged with beside what was taken
-- Derived, in the same slot: <scope in the lane>:flying, zset of attempts in the lane
-- ARGV[1]     JSON: lane, asker, burst (s), recheck (ms), rate (cost/s of the pool, 0 unknown),
--               spans (lines share limits: whom only its own line stops does not hold up others),
--               candidates [{k = [4 limits, 0 none], kd, kc, l = [...], ld, lc, room or -1}],
--               asks [{a, c = [4 amounts], m = [3 extras], lost (ms), team, w, cost, x = [indexes],
--                 again: perhaps granted by a call whose reply was lost}],
--               waiting [[team, weight]]
--
-- Result      {wait ms, g1, g2, ...}  one per ask: the candidate, counted from 1, or 0
local p = cjson.decode(ARGV[1])
local active_ms, gather_ms = 300, 300
local count = #p.candidates
local shares = KEYS[2 * count + 1]
local stored = redis.call('MGET', unpack(KEYS, 1, 2 * count + 1))
local max, min = math.max, math.min

-- What lost attempts may have used is charged wherever their scopes are.
local function debit_lost(key, loaded, extras)
  local scope = loaded and loaded.state
  if not scope then
    local blob = redis.call('GET', key)
    if not blob then
      return
    end
    scope = open_scope(blob)
  end
  for q = 2, 4 do
    if scope[LEFT + q] then
      scope[LEFT + q] = scope[LEFT + q] - tonumber(extras[q - 1])
    end
  end
  if loaded then
    loaded.changed = true
  else
    keep_scope(key, scope)
  end
end

local function reclaim(attempts, key_wide, in_lane)
  local lost = redis.call('ZRANGEBYSCORE', attempts, '-inf', now, 'LIMIT', 0, 1000)
  for _, member in ipairs(lost) do
    local name, lane, t, i, o = string.match(member, '^(.-)|(.*)|(%-?%d+)|(%-?%d+)|(%-?%d+)$')
    redis.call('ZREM', attempts, member)
    if name then
      local lane_key = key_wide.key .. ':' .. lane
      redis.call('ZREM', lane_key .. ':flying', member)
      debit_lost(key_wide.key, key_wide, {t, i, o})
      debit_lost(lane_key, lane == p.lane and in_lane or nil, {t, i, o})
    end
  end
end

-- The state with the limits in force: headers only ever lower a configured limit.
local function scope_of(index, limits, day_limit)
  local state = open_scope(stored[index])
  local scope = {key = KEYS[index], state = state, limit = {}, limited = {}, level = {},
    day_limit = day_limit, day_used = 0, minute = stored[index] and state[MINUTE]}
  for q = 1, 4 do
    local limit, shown = limits[q], state[SHOWN + q]
    if shown > 0 and (limit == 0 or shown < limit) then
      limit = shown
    end
    if limit > 0 then
      scope.limit[q] = limit
      scope.limited[#scope.limited + 1] = q
    end
  end
  while state[DAYS] and state[DAYS] + hours_kept <= hour do
    table.remove(state, DAYS)
    table.remove(state, DAYS)
  end
  if day_limit > 0 then
    for i = DAYS + 1, #state, 2 do
      scope.day_used = scope.day_used + state[i]
    end
  end
  return scope
end

local function day_wait(scope)
  if scope.day_limit == 0 or scope.day_used < scope.day_limit then
    return 0
  end
  local excess, state = scope.day_used + 1 - scope.day_limit, scope.state
  for i = DAYS, #state, 2 do
    if state[i + 1] >= excess then
      return (state[i] + hours_kept) * 3600000 - now
    end
    excess = excess - state[i + 1]
  end
  return 0
end

-- Wait (ms), share of the scarcest limit, and whether the charge is larger than the burst. Leaves
-- the levels of now for a take.
local function look(scope, charge)
  local state = scope.state
  local wait, share, large = max(state[HELD] - now, 0), 1, false
  local passed = max(now - state[AT], 0)
  for i = 1, #scope.limited do
    local q = scope.limited[i]
    local limit, amount = scope.limit[q], charge[q]
    local half, at_once = limit / 2, limit * p.burst / 60
    local size = min(max(amount, at_once), max(half, 1))
    local refill = max(limit - size, half) / 60000
    local left = state[LEFT + q]
    local level = left and min(size, left + passed * refill) or size
    scope.level[q] = level
    wait = max(wait, (min(amount, size) - level) / refill)
    share = min(share, level / size)
    large = large or amount > at_once
  end
  if scope.day_limit > 0 then
    wait = max(wait, day_wait(scope))
  end
  return wait, share, large
end

-- Takes what was just looked at. All levels of a scope share one time, so every take brings all of
-- them up to now.
local function take(scope, charge)
  local state = scope.state
  local passed = minute - state[MINUTE]
  for q = 1, 4 do
    if passed > 0 then
      state[BEFORE + q] = passed == 1 and state[USED + q] or 0
      state[USED + q] = 0
    end
    state[USED + q] = state[USED + q] + charge[q]
    if scope.limit[q] then
      state[LEFT + q] = scope.level[q] - charge[q]
    end
  end
  state[MINUTE] = max(minute, state[MINUTE])
  state[AT] = now
  -- Counted without a limit too, which may come later.
  local last = #state
  if last < DAYS or state[last - 1] ~= hour then
    state[last + 1], state[last + 2] = hour, 0
    last = last + 2
  end
  state[last] = state[last] + 1
  scope.day_used = scope.day_used + 1
  scope.changed = true
end

local candidates = {}
for i, c in ipairs(p.candidates) do
  local attempts = KEYS[2 * count + 1 + i]
  local key_wide, in_lane = scope_of(2 * i - 1, c.k, c.kd), scope_of(2 * i, c.l, c.ld)
  reclaim(attempts, key_wide, in_lane)
  candidates[i] = {
    key_wide = key_wide, in_lane = in_lane, attempts = attempts, flying = 0, lane_flying = 0,
    places = c.kc, lane_places = c.lc, room = c.room}
  -- Counted where it decides: where places are limited, or between equal keys.
  if c.kc > 0 or count > 1 then
    candidates[i].flying = redis.call('ZCARD', attempts)
  end
  if c.lc > 0 then
    -- Lost ones whose attempt is forgotten already.
    redis.call('ZREMRANGEBYSCORE', in_lane.key .. ':flying', '-inf', now)
    candidates[i].lane_flying = redis.call('ZCARD', in_lane.key .. ':flying')
  end
end

-- Teams that wait anywhere; who joins starts level with the least served of them.
local served = stored[2 * count + 1] and cmsgpack.unpack(stored[2 * count + 1]) or {}
local active, least, weights, served_changed = {}, nil, 0, false
for team, entry in pairs(served) do
  if not entry[2] or now - entry[2] > idle_ms then
    served[team] = nil
  elseif now - entry[2] <= active_ms then
    active[team] = true
    least = min(least or entry[1], entry[1])
  end
end
for _, entry in ipairs(p.waiting) do
  local team = entry[1]
  weights = weights + entry[2]
  if not active[team] then
    local known = served[team] or {0, false}
    known[1] = max(known[1], least or 0)
    served[team] = known
    active[team] = true
    served_changed = true
  end
end
local function least_served()
  local lowest
  for team in pairs(active) do
    lowest = min(lowest or served[team][1], served[team][1])
  end
  return lowest or 0
end

local function gathers_other(state)
  return state[GATHERS_UNTIL] > now and state[GATHERER] ~= p.asker
end

local function gather(scope)
  if not gathers_other(scope.state) then
    scope.state[GATHERER], scope.state[GATHERS_UNTIL] = p.asker, now + gather_ms
    scope.changed = true
  end
end

-- The candidate that has this attempt already.
local function granted_before(member)
  for i, c in ipairs(candidates) do
    if redis.call('ZSCORE', c.attempts, member) then
      return i
    end
  end
end

-- Notes when a candidate is free for a charge (ms), its scarcest share, whether only its lane stops
-- it, and the scopes for which the charge is larger than the burst. Stays true until the candidate is
-- granted or another charge is looked at.
local function look_at(c, charge)
  local key_wide, in_lane = c.key_wide, c.in_lane
  local wait_key, share_key, large_key = look(key_wide, charge)
  local wait_lane, share_lane, large_lane = look(in_lane, charge)
  local wait, share, lane_stops = max(wait_key, wait_lane), min(share_key, share_lane),
    wait_lane > wait_key
  if c.places > 0 then
    if c.flying >= c.places and wait < p.recheck then
      wait, lane_stops = p.recheck, false
    end
    share = min(share, (c.places - c.flying) / c.places)
  end
  if c.lane_places > 0 then
    if c.lane_flying >= c.lane_places and wait < p.recheck then
      wait, lane_stops = p.recheck, true
    end
    share = min(share, (c.lane_places - c.lane_flying) / c.lane_places)
  end
  if c.room == 0 and wait < p.recheck then
    wait, lane_stops = p.recheck, true
  end
  if wait < p.recheck then
    if gathers_other(key_wide.state) then
      wait, lane_stops = p.recheck, false
    elseif gathers_other(in_lane.state) then
      wait, lane_stops = p.recheck, true
    end
  end
  c.after, c.share, c.lane_stops = wait, share, lane_stops
  c.large_key, c.large_lane, c.looked_at = large_key, large_lane, true
end

local charge
local function is_same(other)
  return charge and charge[1] == other[1] and charge[2] == other[2] and charge[3] == other[3]
    and charge[4] == other[4]
end

local function grant(c, ask, member)
  for _, scope in ipairs({c.key_wide, c.in_lane}) do
    take(scope, ask.c)
    if scope.state[GATHERER] == p.asker then
      scope.state[GATHERER], scope.state[GATHERS_UNTIL] = '', 0
    end
  end
  c.flying, c.lane_flying, c.looked_at = c.flying + 1, c.lane_flying + 1, false
  if c.room > 0 then
    c.room = c.room - 1
  end
  local lost_at = now + ask.lost
  redis.call('ZADD', c.attempts, lost_at, member)
  redis.call('ZADD', c.in_lane.key .. ':flying', lost_at, member)
  -- Once a minute is enough.
  if c.in_lane.minute ~= minute then
    redis.call('PEXPIRE', c.attempts, idle_ms)
    redis.call('PEXPIRE', c.in_lane.key .. ':flying', idle_ms)
  end
end

local result, wait = {0}, nil
local stopped, stopped_by_lane, granted_any = false, false, false
for n, ask in ipairs(p.asks) do
  result[n + 1] = 0
  local member = ask.a .. '|' .. p.lane .. '|' .. table.concat(ask.m, '|')
  local before = ask.again and granted_before(member)
  local slack = max(2 * ask.cost / ask.w, p.rate / 10 / max(weights, ask.w))
  local share_of_team = served[ask.team] or {0, false}
  if before then
    result[n + 1] = before
  elseif stopped then
    -- Order is kept: nobody passes a head that waits for quota.
  elseif share_of_team[1] > least_served() + slack then
    wait = min(wait or p.recheck, p.recheck)
  else
    if not is_same(ask.c) then
      charge = ask.c
      for _, c in ipairs(candidates) do
        c.looked_at = false
      end
    end
    local best, best_share, best_flying, soonest, soonest_large, soonest_lane
    local excluded
    for _, index in ipairs(ask.x) do
      excluded = excluded or {}
      excluded[index] = true
    end
    for i = 1, count do
      if not (excluded and excluded[i]) then
        local c = candidates[i]
        if not c.looked_at then
          look_at(c, charge)
        end
        if c.after > 0 then
          if not soonest or c.after < soonest then
            soonest, soonest_lane = c.after, c.lane_stops
            soonest_large = {c.large_key and c.key_wide or nil, c.large_lane and c.in_lane or nil}
          end
        elseif not best or c.share > best_share
            or (c.share == best_share and c.flying < best_flying) then
          best, best_share, best_flying = i, c.share, c.flying
        end
      end
    end
    if best then
      grant(candidates[best], ask, member)
      share_of_team[1] = share_of_team[1] + ask.cost / ask.w
      served[ask.team] = share_of_team
      result[n + 1] = best
      granted_any, served_changed = true, true
    else
      wait = min(wait or soonest or p.recheck, soonest or p.recheck)
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
  if c.key_wide.changed then
    keep_scope(c.key_wide.key, c.key_wide.state)
  end
  if c.in_lane.changed then
    keep_scope(c.in_lane.key, c.in_lane.state)
  end
end
if granted_any or not (p.spans and stopped_by_lane) then
  for _, entry in ipairs(p.waiting) do
    served[entry[1]][2] = now
    served_changed = true
  end
end
if served_changed then
  redis.call('SET', shares, cmsgpack.pack(served), 'PX', idle_ms)
end
result[1] = math.ceil(wait or 0)
return result
