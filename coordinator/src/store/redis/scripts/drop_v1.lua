-- Takes sessions out of an experiment; only the records of done ones stay.
--
-- ARGV     experiment, then session ids
-- Returns  nothing of use

local experiment = ARGV[1]
local base = P .. 'e:' .. experiment
for at = 2, #ARGV do
  local session = ARGV[at]
  local state = call('HGET', P .. 's:' .. session, 'state')
  call('ZREM', base .. ':places', session)
  if state then recount(experiment, state, nil) end
  call('SREM', base .. ':faults', session)
  if state == 'done' then
    call('HSET', P .. 's:' .. session, 'placed', 0)
  else
    call('DEL', P .. 's:' .. session)
    call('ZREM', base .. ':queue', session)
    call('SREM', base .. ':leased', session)
    call('SREM', base .. ':aside', session)
    call('ZREM', P .. 'leases', session)
  end
end
return 0
