-- Puts sessions back at the front of their queues; lost leases are passed over.
--
-- ARGV     for each lease: session, fence, worker
-- Returns  how many were put back

local released = 0
for at = 1, #ARGV, 3 do
  local session, fence, worker = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local key = P .. 's:' .. session
  local held = call('HMGET', key, 'state', 'fence', 'worker', 'experiment', 'rank')
  if held[1] == 'leased' and held[2] == fence and held[3] == worker then
    call('HSET', key, 'state', 'queued', 'worker', '')
    recount(held[4], 'leased', 'queued')
    end_lease(session, held[4], worker)
    wait(session, held[4], call('HGET', P .. 'e:' .. held[4], 'team'), held[5])
    released = released + 1
  end
end
if released > 0 then announce() end
return released
