-- Gives sessions their places in an experiment and queues those that must be played, or lets them
-- wait for the one that they follow.
--
-- ARGV     experiment, team, submission, 1 for the last call of a submission,
--          then for each session: position, id, spec, the one that it follows ('' for none), which
--          has its place before
-- Returns  how many of them were done before; -1 when the submission was overtaken

local experiment, team = ARGV[1], ARGV[2]
if overtaken(experiment, ARGV[3]) then return -1 end
local done, queued = 0, false
for at = 5, #ARGV, 4 do
  local position, session, spec, follows = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local key = P .. 's:' .. session
  local held = call('HMGET', key, 'state', 'placed')
  local state, placed = held[1], held[2] == '1'
  if state == 'done' then done = done + 1 end
  if not state or state == 'cancelled' then
    local rank = count('rank')
    local begins = beginning(follows)
    call('HSET', key, 'experiment', experiment, 'spec', spec, 'state', begins, 'rank', rank,
      'crashes', 0, 'losses', 0, 'lost_alone', 0, 'reason', '', 'worker', '', 'placed', 1,
      'follows', follows)
    recount(experiment, placed and state, begins)
    if begins == 'queued' then
      wait(session, experiment, team, rank)
      queued = true
    else
      call('SADD', P .. 'e:' .. experiment .. ':behind', session)
    end
  elseif not placed then
    call('HSET', key, 'placed', 1)
    recount(experiment, nil, state)
  end
  if follows ~= '' then call('HSET', P .. 's:' .. follows, 'behind', session) end
  call('ZADD', P .. 'e:' .. experiment .. ':places', position, session)
end
if ARGV[4] == '1' then submitted(experiment) end
if queued then announce() end
return done
