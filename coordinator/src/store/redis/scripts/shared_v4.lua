-- Stands before every other script of the coordinator; holds what they share.
--
-- KEYS[1]  prefix of every key, "{agon}:coordinator:v1:"; its hash tag keeps all keys in one slot
--
-- Keys, after the prefix:
--   experiments          set of experiment ids
--   e:<id>               hash: team document traceparent cancelled, and how many placed sessions
--                        are in each state: n:queued n:leased n:done n:parked n:dead n:cancelled
--                        n:waiting n:stopped;
--                        while its sessions are being placed also submitting (how many there
--                        will be) and submission (the number of who places them);
--                        on which terms it is asked: priority, content_cache, budget ('' for
--                        none) and file_budget, the one last handed in;
--                        paused (why nothing is leased, '' or absent otherwise) and
--                        resumed_fence (leases up to this number cannot pause it again)
--   e:<id>:places        zset: session -> position in the experiment
--   e:<id>:queue         zset: session -> rank, while queued and no suspect
--   e:<id>:suspects      zset: session -> rank, while queued and a suspect: a lease of it was lost
--   e:<id>:leased        set of leased sessions
--   e:<id>:aside         set of parked and dead sessions
--   e:<id>:behind        set of sessions that follow one that is not done: waiting, or stopped when
--                        one before them was set aside
--   e:<id>:faults        set of sessions finished twice with different records
--   suspected            set of experiments that may have suspects in their queue
--   emptied              the worker that gets nothing until it is idle, because suspects wait
--   s:<session>          hash: experiment spec state rank fence worker crashes losses reason
--                        placed digest record telemetry; lease_number (orders leases), alone (1
--                        when its worker holds nothing else) and lost_alone (losses of such
--                        workers); lost:<fence> (the worker of a lease that ran out before the
--                        session was leased again); in a series also follows (the session
--                        that must be done before, '' for none) and behind (the one that follows)
--   w:<worker>           set of sessions that it holds
--   leases               zset: session -> end of its lease in ms
--   teams                zset: team -> turn in which it was last served
--   t:<team>             zset: experiment -> that turn, less PER_PRIORITY for each step of its
--                        priority; an experiment that pauses is not in it
--   counters             hash: fence (leases given so far) rank turn submission
--   b:<digest>           templates as JSON
--   workers              zset: worker -> ms until which it counts as there
-- Channel: queued        something became free to lease

local P = KEYS[1]
local call = redis.call

local function now_ms()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function count(name)
  return call('HINCRBY', P .. 'counters', name, 1)
end

-- Moves a placed session's count from one state to another; either may be nil.
local function recount(experiment, from, to)
  if from then call('HINCRBY', P .. 'e:' .. experiment, 'n:' .. from, -1) end
  if to then call('HINCRBY', P .. 'e:' .. experiment, 'n:' .. to, 1) end
end

-- More turns than there will ever be; priorities are at most 100 steps from 0, so that scores stay
-- whole numbers that doubles hold exactly.
local PER_PRIORITY = 2 ^ 40

local function is_paused(experiment)
  return (call('HGET', P .. 'e:' .. experiment, 'paused') or '') ~= ''
end

-- Where an experiment stands among those of its team that was served in this turn.
local function place_among(experiment, turn)
  local priority = call('HGET', P .. 'e:' .. experiment, 'priority') or 0
  return turn - tonumber(priority) * PER_PRIORITY
end

-- Gives an experiment its turns, unless it pauses.
local function take_turns(experiment, team)
  if is_paused(experiment) then return end
  local turn = tonumber(call('HGET', P .. 'counters', 'turn') or 0)
  call('ZADD', P .. 't:' .. team, 'NX', place_among(experiment, turn), experiment)
  call('ZADD', P .. 'teams', 'NX', turn, team)
end

-- Whether a worker was lost with the session.
local function is_suspect(session)
  return tonumber(call('HGET', P .. 's:' .. session, 'losses') or 0) > 0
end

-- Lets a session wait in its queue.
local function wait(session, experiment, team, rank)
  if is_suspect(session) then
    call('ZADD', P .. 'e:' .. experiment .. ':suspects', rank, session)
    call('SADD', P .. 'suspected', experiment)
    return
  end
  call('ZADD', P .. 'e:' .. experiment .. ':queue', rank, session)
  take_turns(experiment, team)
end

-- Ends a pause; leases that were given before cannot begin another.
local function end_pause(experiment, team)
  local fence = call('HGET', P .. 'counters', 'fence') or 0
  call('HSET', P .. 'e:' .. experiment, 'paused', '', 'resumed_fence', fence)
  take_turns(experiment, team)
end

-- Whether somebody else has submitted the experiment again meanwhile, or cancelled it.
local function overtaken(experiment, submission)
  return call('HGET', P .. 'e:' .. experiment, 'submission') ~= submission
end

-- Every session has its place, or will never get one.
local function submitted(experiment)
  call('HDEL', P .. 'e:' .. experiment, 'submitting', 'submission')
end

local function announce()
  call('PUBLISH', P .. 'queued', '1')
end

-- Takes a session out of its queue.
local function leave_queue(session, experiment)
  call('ZREM', P .. 'e:' .. experiment .. ':queue', session)
  call('ZREM', P .. 'e:' .. experiment .. ':suspects', session)
end

-- Nobody holds the session any more. A worker that is idle now may play a suspect, or again play
-- what is none.
local function end_lease(session, experiment, worker)
  call('SREM', P .. 'e:' .. experiment .. ':leased', session)
  call('ZREM', P .. 'leases', session)
  if (worker or '') == '' then return end
  if call('SREM', P .. 'w:' .. worker, session) == 0 then return end
  local waiting = call('EXISTS', P .. 'suspected') == 1 or is_suspect(session)
  if waiting and call('EXISTS', P .. 'w:' .. worker) == 0 then announce() end
end

-- In which state a session begins, given the one that it follows ('' for none).
local function beginning(follows)
  if follows == '' then return 'queued' end
  local state = call('HGET', P .. 's:' .. follows, 'state')
  if state == 'done' then return 'queued' end
  if state == 'parked' or state == 'dead' or state == 'stopped' then return 'stopped' end
  return 'waiting'
end

-- Moves the sessions behind one from a state to another, as far as they are in it.
local function move_behind(session, experiment, from, to)
  local behind = call('HGET', P .. 's:' .. session, 'behind')
  while behind do
    local held = call('HMGET', P .. 's:' .. behind, 'state', 'behind')
    if held[1] ~= from then return end
    call('HSET', P .. 's:' .. behind, 'state', to)
    recount(experiment, from, to)
    behind = held[2]
  end
end

-- A session is done: the one that follows it is queued, and those behind that wait again if they
-- were stopped.
local function go_on(session, experiment)
  local behind = call('HGET', P .. 's:' .. session, 'behind')
  if not behind then return end
  local held = call('HMGET', P .. 's:' .. behind, 'state', 'rank')
  if held[1] ~= 'waiting' and held[1] ~= 'stopped' then return end
  local base = P .. 'e:' .. experiment
  call('HSET', P .. 's:' .. behind, 'state', 'queued')
  call('SREM', base .. ':behind', behind)
  recount(experiment, held[1], 'queued')
  wait(behind, experiment, call('HGET', base, 'team'), held[2])
  move_behind(behind, experiment, 'stopped', 'waiting')
  announce()
end
