-- Cancels what is queued and leased and what waits behind that, a bounded number in one call.
--
-- ARGV     experiment, most sessions in one call
-- Returns  -1 without such an experiment, else how many were cancelled

local experiment, most = ARGV[1], tonumber(ARGV[2])
local base = P .. 'e:' .. experiment
if call('EXISTS', base) == 0 then return -1 end
call('HSET', base, 'cancelled', 1)
submitted(experiment)
end_pause(experiment, call('HGET', base, 'team'))
local behind = call('SRANDMEMBER', base .. ':behind', most)
for _, session in ipairs(behind) do
  local key = P .. 's:' .. session
  recount(experiment, call('HGET', key, 'state'), 'cancelled')
  call('HSET', key, 'state', 'cancelled')
  call('SREM', base .. ':behind', session)
end
local queued = call('ZRANGE', base .. ':queue', 0, most - 1)
local suspects = call('ZRANGE', base .. ':suspects', 0, most - 1)
local leased = call('SRANDMEMBER', base .. ':leased', most)
for _, sessions in ipairs({ queued, suspects, leased }) do
  for _, session in ipairs(sessions) do
    local held = call('HMGET', P .. 's:' .. session, 'state', 'worker')
    call('HSET', P .. 's:' .. session, 'state', 'cancelled', 'worker', '')
    recount(experiment, held[1], 'cancelled')
    leave_queue(session, experiment)
    end_lease(session, experiment, held[2])
  end
end
return #queued + #suspects + #leased + #behind
