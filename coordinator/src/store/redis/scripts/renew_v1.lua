-- Renews leases. One that ran out may be taken up again while nobody else has the session.
--
-- ARGV     worker, ttl in ms, then for each lease: session, fence
-- Returns  1 or 0 for each lease, in order

local worker, ttl = ARGV[1], tonumber(ARGV[2])
local expires = now_ms() + ttl
local renewed = {}
for at = 3, #ARGV, 2 do
  local session, fence = ARGV[at], ARGV[at + 1]
  local key = P .. 's:' .. session
  local held = call('HMGET', key, 'state', 'fence', 'worker', 'experiment')
  local keeps = 0
  if held[2] == fence then
    if held[1] == 'leased' then
      keeps = 1
    elseif held[1] == 'queued' and held[3] == worker then
      local base = P .. 'e:' .. held[4]
      call('ZREM', base .. ':queue', session)
      call('SADD', base .. ':leased', session)
      recount(held[4], 'queued', 'leased')
      keeps = 1
    end
  end
  if keeps == 1 then
    call('HSET', key, 'state', 'leased', 'worker', worker)
    call('ZADD', P .. 'leases', expires, session)
  end
  renewed[#renewed + 1] = keeps
end
return renewed
