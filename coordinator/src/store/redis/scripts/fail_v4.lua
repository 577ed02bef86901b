-- Takes in that a session failed. One that is set aside stops those behind it.
--
-- ARGV     session, fence, worker, 'crashed' | 'parked' | 'impossible' | 'budget_spent', reason,
--          most crashes
-- Returns  1, or 0 when the lease was lost, and the experiment if it pauses from now on, else ''

local session, fence, worker, failure = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key = P .. 's:' .. session
local held = call('HMGET', key, 'state', 'fence', 'worker', 'experiment', 'crashes', 'rank',
  'lease_number')
if held[1] ~= 'leased' or held[2] ~= fence or held[3] ~= worker then return { 0, '' } end
local experiment, crashes = held[4], tonumber(held[5])
local base = P .. 'e:' .. experiment
local state = 'parked'
if failure == 'impossible' then state = 'dead' end
if failure == 'crashed' then
  crashes = crashes + 1
  state = crashes >= tonumber(ARGV[6]) and 'dead' or 'queued'
end
local pauses = ''
if failure == 'budget_spent' then
  -- No try is used up, and the experiment pauses: its sessions would meet the same budget.
  state = 'queued'
  local resumed = tonumber(call('HGET', base, 'resumed_fence') or 0)
  if not is_paused(experiment) and resumed < tonumber(held[7] or 0) then
    local why = ARGV[5] ~= '' and ARGV[5] or 'a budget is spent'
    call('HSET', base, 'paused', why)
    pauses = experiment
    call('ZREM', P .. 't:' .. call('HGET', base, 'team'), experiment)
  end
end
call('HSET', key, 'state', state, 'crashes', crashes, 'reason', ARGV[5], 'worker', '')
recount(experiment, 'leased', state)
end_lease(session, experiment, worker)
if state == 'queued' then
  local rank = failure == 'crashed' and count('rank') or held[6]
  call('HSET', key, 'rank', rank)
  wait(session, experiment, call('HGET', base, 'team'), rank)
  announce()
else
  call('SADD', base .. ':aside', session)
  move_behind(session, experiment, 'waiting', 'stopped')
end
return { 1, pauses }
