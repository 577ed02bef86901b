-- Takes sessions out of an experiment; only the records of done ones stay. The one before a session
-- still names it as the one behind: whoever goes there looks at its state, finds none and stops.
--
-- ARGV     experiment, submission, then session ids
-- Returns  0; -1 when the submission was overtaken

local experiment = ARGV[1]
if overtaken(experiment, ARGV[2]) then return -1 end
local base = P .. 'e:' .. experiment
for at = 3, #ARGV do
  local session = ARGV[at]
  local held = call('HMGET', P .. 's:' .. session, 'state', 'worker')
  local state = held[1]
  call('ZREM', base .. ':places', session)
  if state then recount(experiment, state, nil) end
  call('SREM', base .. ':faults', session)
  if state == 'done' then
    call('HSET', P .. 's:' .. session, 'placed', 0)
  else
    call('DEL', P .. 's:' .. session)
    leave_queue(session, experiment)
    end_lease(session, experiment, held[2])
    call('SREM', base .. ':aside', session)
    call('SREM', base .. ':behind', session)
  end
end
return 0
