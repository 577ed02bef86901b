-- Leases queued sessions to a worker: teams take turns, then experiments of the highest priority,
-- then rank.
--
-- ARGV     worker, most, ttl in ms
-- Returns  for each lease: session, fence, spec, attempt, experiment, team, traceparent, priority,
--          budget ('' for none), 1 when the content cache may answer, record of the session that
--          it follows ('' for none)

local worker, most, ttl = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local expires = now_ms() + ttl

local function next_session()
  while true do
    local team = call('ZRANGE', P .. 'teams', 0, 0)[1]
    if not team then return nil end
    local experiment = call('ZRANGE', P .. 't:' .. team, 0, 0)[1]
    if not experiment then
      call('ZREM', P .. 'teams', team)
    elseif is_paused(experiment) then
      call('ZREM', P .. 't:' .. team, experiment)
    else
      local popped = call('ZPOPMIN', P .. 'e:' .. experiment .. ':queue')
      if #popped == 0 then
        call('ZREM', P .. 't:' .. team, experiment)
      else
        local turn = count('turn')
        call('ZADD', P .. 'teams', turn, team)
        call('ZADD', P .. 't:' .. team, place_among(experiment, turn), experiment)
        return popped[1], experiment, team
      end
    end
  end
end

local granted = {}
for _ = 1, most do
  local session, experiment, team = next_session()
  if not session then break end
  local key = P .. 's:' .. session
  local fence = count('fence')
  call('HSET', key, 'state', 'leased', 'fence', fence, 'worker', worker)
  call('ZADD', P .. 'leases', expires, session)
  call('SADD', P .. 'e:' .. experiment .. ':leased', session)
  recount(experiment, 'queued', 'leased')
  local held = call('HMGET', key, 'spec', 'crashes', 'losses', 'follows')
  local before = ''
  if (held[4] or '') ~= '' then before = call('HGET', P .. 's:' .. held[4], 'record') or '' end
  local attempt = tonumber(held[2]) + tonumber(held[3]) + 1
  local terms = call('HMGET', P .. 'e:' .. experiment, 'traceparent', 'priority', 'budget',
    'content_cache')
  for _, value in ipairs({ session, fence, held[1], attempt, experiment, team, terms[1] or '',
    terms[2] or 0, terms[3] or '', terms[4] or 0, before }) do
    granted[#granted + 1] = tostring(value)
  end
end
return granted
