-- Takes every limit of the key with most headroom at once, or nothing. On Redis's clock.
-- The arithmetic is that of admission/bucket.rs; the contract tests hold them together.
--
-- KEYS[2i-1]  hash  agon:limits:{pool}:<key id>    of candidate i
--               r, ra  requests left, and when (ms)
--               t, ta  tokens left, and when (ms)
--               h      held until (ms)
-- KEYS[2i]    zset  agon:attempts:{pool}:<key id>  attempt -> when it counts as lost (ms)
-- ARGV[1]     attempt, unique among all replicas
-- ARGV[2]     tokens, the most that the call is expected to use
-- ARGV[3]     milliseconds until an unsettled attempt counts as lost
-- ARGV[4]     milliseconds between looks when every place is taken
-- ARGV[3i+2], ARGV[3i+3], ARGV[3i+4]  requests per minute, tokens per minute,
--             concurrency of candidate i; 0 means no limit
--
-- Result      {1, i}   granted on candidate i, counted from 1
--             {0, ms}  nothing taken; ask again in so many milliseconds
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local tokens = tonumber(ARGV[2])
local idle_ms = 7200000

local function terms(limit, charge)
  local half = limit / 2
  local size = math.min(math.max(charge, limit / 60), math.max(half, 1))
  return {size = size, refill = math.max(limit - size, half) / 60000, needed = math.min(charge, size)}
end

local function level(left, at, t)
  if not left then
    return t.size
  end
  return math.min(t.size, tonumber(left) + math.max(now - tonumber(at), 0) * t.refill)
end

local best, best_share, best_in_flight, soonest
local levels = {}
for i = 1, #KEYS / 2 do
  local limits, attempts = KEYS[2 * i - 1], KEYS[2 * i]
  local rpm = tonumber(ARGV[3 * i + 2])
  local tpm = tonumber(ARGV[3 * i + 3])
  local places = tonumber(ARGV[3 * i + 4])
  local state = redis.call('HMGET', limits, 'r', 'ra', 't', 'ta', 'h')
  redis.call('ZREMRANGEBYSCORE', attempts, '-inf', string.format('%.3f', now))
  local in_flight = redis.call('ZCARD', attempts)
  local wait = math.max((tonumber(state[5] or '0')) - now, 0)
  local share = 1
  if places > 0 then
    if in_flight >= places then
      wait = math.max(wait, tonumber(ARGV[4]))
    end
    share = math.min(share, (places - in_flight) / places)
  end
  levels[i] = {}
  if rpm > 0 then
    local t = terms(rpm, 1)
    local there = level(state[1], state[2], t)
    levels[i].requests = there
    wait = math.max(wait, (t.needed - there) / t.refill)
    share = math.min(share, there / t.size)
  end
  if tpm > 0 then
    local t = terms(tpm, tokens)
    local there = level(state[3], state[4], t)
    levels[i].tokens = there
    wait = math.max(wait, (t.needed - there) / t.refill)
    share = math.min(share, there / t.size)
  end
  if wait > 0 then
    soonest = math.min(soonest or wait, wait)
  elseif not best or share > best_share or (share == best_share and in_flight < best_in_flight) then
    best, best_share, best_in_flight = i, share, in_flight
  end
end

if not best then
  return {0, math.ceil(soonest)}
end
local limits, attempts = KEYS[2 * best - 1], KEYS[2 * best]
local at = string.format('%.3f', now)
if levels[best].requests then
  redis.call('HSET', limits, 'r', string.format('%.6f', levels[best].requests - 1), 'ra', at)
end
if levels[best].tokens then
  redis.call('HSET', limits, 't', string.format('%.6f', levels[best].tokens - tokens), 'ta', at)
end
redis.call('ZADD', attempts, string.format('%.3f', now + tonumber(ARGV[3])), ARGV[1])
-- Keys that nobody uses any more leave by themselves; by then they are full.
redis.call('PEXPIRE', limits, math.max(idle_ms, redis.call('PTTL', limits)))
redis.call('PEXPIRE', attempts, idle_ms)
return {1, best}
