-- Renews leases. One that ran out may be taken up again while nobody else has the session.
--
-- ARGV     ttl in ms, 1 when the worker holds nothing else, then for each lease: session, fence,
--          worker
-- Returns  1 or 0 for each lease, in order

local expires = now_ms() + tonumber(ARGV[1])
local alone = ARGV[2]
local renewed = {}
for at = 3, #ARGV, 3 do
  local session, fence, worker = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local key = P .. 's:' .. session
  local held = call('HMGET', key, 'state', 'fence', 'worker', 'experiment')
  local keeps = 0
  if held[2] == fence and held[3] == worker then
    if held[1] == 'leased' then
      keeps = 1
    elseif held[1] == 'queued' then
      leave_queue(session, held[4])
      call('SADD', P .. 'e:' .. held[4] .. ':leased', session)
      call('SADD', P .. 'w:' .. worker, session)
      recount(held[4], 'queued', 'leased')
      keeps = 1
    end
  end
  if keeps == 1 then
    call('HSET', key, 'state', 'leased', 'alone', alone)
    call('ZADD', P .. 'leases', expires, session)
  end
  renewed[#renewed + 1] = keeps
end
return renewed
