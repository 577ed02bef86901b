-- Gives sessions their places in an experiment and queues those that must be played.
--
-- ARGV     experiment, team, submission, 1 for the last call of a submission,
--          then for each session: position, id, spec
-- Returns  how many of them were done before; -1 when the submission was overtaken

local experiment, team = ARGV[1], ARGV[2]
if overtaken(experiment, ARGV[3]) then return -1 end
local done, queued = 0, false
for at = 5, #ARGV, 3 do
  local position, session, spec = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local key = P .. 's:' .. session
  local held = call('HMGET', key, 'state', 'placed')
  local state, placed = held[1], held[2] == '1'
  if state == 'done' then done = done + 1 end
  if not state or state == 'cancelled' then
    local rank = count('rank')
    call('HSET', key, 'experiment', experiment, 'spec', spec, 'state', 'queued', 'rank', rank,
      'crashes', 0, 'losses', 0, 'reason', '', 'worker', '', 'placed', 1)
    wait(session, experiment, team, rank)
    recount(experiment, placed and state, 'queued')
    queued = true
  elseif not placed then
    call('HSET', key, 'placed', 1)
    recount(experiment, nil, state)
  end
  call('ZADD', P .. 'e:' .. experiment .. ':places', position, session)
end
if ARGV[4] == '1' then submitted(experiment) end
if queued then announce() end
return done
