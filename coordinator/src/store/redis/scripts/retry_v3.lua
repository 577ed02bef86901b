-- Queues sessions again that were set aside, with new tries; those behind them wait again.
--
-- ARGV     experiment, then session ids
-- Returns  how many were queued

local experiment = ARGV[1]
local base = P .. 'e:' .. experiment
local team = call('HGET', base, 'team')
local queued = 0
for at = 2, #ARGV do
  local session = ARGV[at]
  if call('SREM', base .. ':aside', session) == 1 then
    local key = P .. 's:' .. session
    local rank = count('rank')
    recount(experiment, call('HGET', key, 'state'), 'queued')
    call('HSET', key, 'state', 'queued', 'rank', rank, 'crashes', 0, 'losses', 0, 'lost_alone', 0,
      'reason', '', 'worker', '')
    wait(session, experiment, team, rank)
    move_behind(session, experiment, 'stopped', 'waiting')
    queued = queued + 1
  end
end
if queued > 0 then
  call('HSET', base, 'cancelled', 0)
  announce()
end
return queued
