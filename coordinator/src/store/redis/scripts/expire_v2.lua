-- Puts sessions back whose leases have run out; the worker's name stays with them, so that it
-- may take them up again while nobody else does.
--
-- ARGV     most losses, most sessions in one call
-- Returns  how many leases had run out

local most_losses = tonumber(ARGV[1])
local lost = call('ZRANGEBYSCORE', P .. 'leases', '-inf', now_ms(), 'LIMIT', 0, ARGV[2])
for _, session in ipairs(lost) do
  local key = P .. 's:' .. session
  call('ZREM', P .. 'leases', session)
  local held = call('HMGET', key, 'experiment', 'rank')
  local losses = call('HINCRBY', key, 'losses', 1)
  local base = P .. 'e:' .. held[1]
  call('SREM', base .. ':leased', session)
  if losses >= most_losses then
    local reason = 'the workers that played it were lost ' .. losses .. ' times'
    call('HSET', key, 'state', 'dead', 'reason', reason)
    call('SADD', base .. ':aside', session)
    recount(held[1], 'leased', 'dead')
    move_behind(session, held[1], 'waiting', 'stopped')
  else
    call('HSET', key, 'state', 'queued')
    recount(held[1], 'leased', 'queued')
    wait(session, held[1], call('HGET', base, 'team'), held[2])
  end
end
if #lost > 0 then announce() end
return #lost
