-- Takes in that a session failed. One that is set aside stops those behind it.
--
-- ARGV     session, fence, 'crashed' | 'parked' | 'impossible' | 'budget_spent', reason,
--          most crashes
-- Returns  1, or 0 when the lease was lost, and the experiment if it pauses from now on, else ''

local session, fence, failure = ARGV[1], ARGV[2], ARGV[3]
local key = P .. 's:' .. session
local held = call('HMGET', key, 'state', 'fence', 'experiment', 'crashes', 'rank')
if held[1] ~= 'leased' or held[2] ~= fence then return { 0, '' } end
local experiment, crashes = held[3], tonumber(held[4])
local base = P .. 'e:' .. experiment
local state = 'parked'
if failure == 'impossible' then state = 'dead' end
if failure == 'crashed' then
  crashes = crashes + 1
  state = crashes >= tonumber(ARGV[5]) and 'dead' or 'queued'
end
local pauses = ''
if failure == 'budget_spent' then
  -- No try is used up, and the experiment pauses: its sessions would meet the same budget.
  state = 'queued'
  local resumed = tonumber(call('HGET', base, 'resumed_fence') or 0)
  if not is_paused(experiment) and resumed < tonumber(fence) then
    local why = ARGV[4] ~= '' and ARGV[4] or 'a budget is spent'
    call('HSET', base, 'paused', why)
    pauses = experiment
    call('ZREM', P .. 't:' .. call('HGET', base, 'team'), experiment)
  end
end
call('HSET', key, 'state', state, 'crashes', crashes, 'reason', ARGV[4], 'worker', '')
call('SREM', base .. ':leased', session)
call('ZREM', P .. 'leases', session)
recount(experiment, 'leased', state)
if state == 'queued' then
  local rank = failure == 'crashed' and count('rank') or held[5]
  call('HSET', key, 'rank', rank)
  wait(session, experiment, call('HGET', base, 'team'), rank)
  announce()
else
  call('SADD', base .. ':aside', session)
  move_behind(session, experiment, 'waiting', 'stopped')
end
return { 1, pauses }
