-- Leases queued sessions to a worker: teams take turns, then experiments of the highest priority,
-- then rank. A suspect is leased alone: to a worker that holds nothing, which gets nothing else
-- until the suspect has ended. While suspects wait, one busy worker gets nothing until it is idle.
--
-- ARGV     worker, ttl in ms, then a new fence for each session that it may get
-- Returns  for each lease: session, fence, spec, attempt, experiment, team, traceparent, priority,
--          budget ('' for none), 1 when the content cache may answer, record of the session that
--          it follows ('' for none)

local worker, ttl = ARGV[1], tonumber(ARGV[2])
local expires = now_ms() + ttl
local granted = {}

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
        return popped[1], experiment
      end
    end
  end
end

-- A suspect of an experiment that does not pause; it stays in its queue.
local function first_suspect()
  for _, experiment in ipairs(call('SMEMBERS', P .. 'suspected')) do
    if not is_paused(experiment) then
      local session = call('ZRANGE', P .. 'e:' .. experiment .. ':suspects', 0, 0)[1]
      if session then return session, experiment end
      call('SREM', P .. 'suspected', experiment)
    end
  end
end

local function grant(session, experiment, fence, alone)
  local key = P .. 's:' .. session
  local held = call('HMGET', key, 'spec', 'crashes', 'losses', 'follows', 'worker', 'fence')
  -- Its last lease ran out; what its worker may still hand in is compared.
  if held[5] ~= '' then call('HSET', key, 'lost:' .. held[6], held[5]) end
  call('HSET', key, 'state', 'leased', 'fence', fence, 'lease_number', count('fence'),
    'worker', worker, 'alone', alone)
  call('ZADD', P .. 'leases', expires, session)
  call('SADD', P .. 'e:' .. experiment .. ':leased', session)
  call('SADD', P .. 'w:' .. worker, session)
  recount(experiment, 'queued', 'leased')
  local before = ''
  if (held[4] or '') ~= '' then before = call('HGET', P .. 's:' .. held[4], 'record') or '' end
  local attempt = tonumber(held[2]) + tonumber(held[3]) + 1
  local terms = call('HMGET', P .. 'e:' .. experiment, 'team', 'traceparent', 'priority',
    'budget', 'content_cache')
  for _, value in ipairs({ session, fence, held[1], attempt, experiment, terms[1],
    terms[2] or '', terms[3] or 0, terms[4] or '', terms[5] or 0, before }) do
    granted[#granted + 1] = tostring(value)
  end
end

if #ARGV < 3 then return granted end
local holds = call('SMEMBERS', P .. 'w:' .. worker)
if #holds == 1 and is_suspect(holds[1]) then return granted end
local suspect, experiment = first_suspect()
if suspect and #holds == 0 then
  leave_queue(suspect, experiment)
  grant(suspect, experiment, ARGV[3], 1)
  return granted
end
if suspect then
  local emptied = call('GET', P .. 'emptied')
  if not emptied or emptied == worker then
    call('SET', P .. 'emptied', worker, 'PX', ttl)
    return granted
  end
end
local last
for at = 3, #ARGV do
  local session, of = next_session()
  if not session then break end
  grant(session, of, ARGV[at], 0)
  last = session
end
-- Alone by chance.
if last and call('SCARD', P .. 'w:' .. worker) == 1 then
  call('HSET', P .. 's:' .. last, 'alone', 1)
end
return granted
