-- Puts sessions back whose leases have run out, as suspects; the worker's name stays with them, so
-- that it may take them up again while nobody else does. Losses of workers that held nothing else
-- are counted.
--
-- ARGV     most losses alone, most sessions in one call
-- Returns  how many leases had run out

local most_losses = tonumber(ARGV[1])
local lost = call('ZRANGEBYSCORE', P .. 'leases', '-inf', now_ms(), 'LIMIT', 0, ARGV[2])
for _, session in ipairs(lost) do
  local key = P .. 's:' .. session
  local held = call('HMGET', key, 'experiment', 'rank', 'worker', 'alone')
  local base = P .. 'e:' .. held[1]
  call('HINCRBY', key, 'losses', 1)
  local losses = call('HINCRBY', key, 'lost_alone', tonumber(held[4]) or 0)
  end_lease(session, held[1], held[3])
  if losses >= most_losses then
    local reason = losses .. ' workers were lost while they played this session and nothing else'
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
