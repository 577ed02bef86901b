-- Takes in a result: the first one wins, later ones of leases that were really given are compared
-- by their digest. The session that follows it in its series is queued.
--
-- ARGV     session, fence, worker, digest, record, telemetry
-- Returns  'first', 'same', 'different' or 'fenced'

local session, fence, worker, digest = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key = P .. 's:' .. session
local held = call('HMGET', key, 'state', 'fence', 'worker', 'digest', 'experiment', 'lost:' .. fence)
local state, experiment = held[1], held[5]
if not state then return 'fenced' end
local base = P .. 'e:' .. experiment
local holds = held[2] == fence and held[3] == worker
if state == 'done' then
  if not holds and held[6] ~= worker then return 'fenced' end
  if held[4] == digest then return 'same' end
  call('SADD', base .. ':faults', session)
  return 'different'
end
-- A lease that ran out while nobody else took the session is as good as any.
if state == 'cancelled' or not holds then return 'fenced' end
leave_queue(session, experiment)
call('SREM', base .. ':aside', session)
-- The worker stays with the session: it may say its result again.
call('HSET', key, 'state', 'done', 'digest', digest, 'record', ARGV[5], 'telemetry', ARGV[6],
  'reason', '')
recount(experiment, state, 'done')
end_lease(session, experiment, worker)
go_on(session, experiment)
return 'first'
