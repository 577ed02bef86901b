-- Puts sessions back at the front of their queues; lost leases are passed over.
--
-- ARGV     for each lease: session, fence
-- Returns  how many were put back

local released = 0
for at = 1, #ARGV, 2 do
  local session, fence = ARGV[at], ARGV[at + 1]
  local key = P .. 's:' .. session
  local held = call('HMGET', key, 'state', 'fence', 'experiment', 'rank')
  if held[1] == 'leased' and held[2] == fence then
    local base = P .. 'e:' .. held[3]
    call('HSET', key, 'state', 'queued', 'worker', '')
    call('SREM', base .. ':leased', session)
    call('ZREM', P .. 'leases', session)
    recount(held[3], 'leased', 'queued')
    wait(session, held[3], call('HGET', base, 'team'), held[4])
    released = released + 1
  end
end
if released > 0 then announce() end
return released
