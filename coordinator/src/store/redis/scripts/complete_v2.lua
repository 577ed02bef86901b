-- Takes in a result: the first one wins, later ones are compared by their digest. The session that
-- follows it in its series is queued.
--
-- ARGV     session, fence, digest, record, telemetry
-- Returns  'first', 'same', 'different' or 'fenced'

local session, fence, digest = ARGV[1], ARGV[2], ARGV[3]
local key = P .. 's:' .. session
local held = call('HMGET', key, 'state', 'fence', 'digest', 'experiment')
local state, experiment = held[1], held[4]
if not state then return 'fenced' end
local base = P .. 'e:' .. experiment
if state == 'done' then
  if held[3] == digest then return 'same' end
  call('SADD', base .. ':faults', session)
  return 'different'
end
-- A lease that ran out while nobody else took the session is as good as any.
if state == 'cancelled' or held[2] ~= fence then return 'fenced' end
call('ZREM', base .. ':queue', session)
call('SREM', base .. ':leased', session)
call('SREM', base .. ':aside', session)
call('ZREM', P .. 'leases', session)
call('HSET', key, 'state', 'done', 'digest', digest, 'record', ARGV[4], 'telemetry', ARGV[5],
  'worker', '', 'reason', '')
recount(experiment, state, 'done')
go_on(session, experiment)
return 'first'
