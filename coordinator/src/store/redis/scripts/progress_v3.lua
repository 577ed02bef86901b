-- How far an experiment is.
--
-- ARGV     experiment, most sessions set aside to list
-- Returns  nil without such an experiment, else why it pauses ('' when it does not) and three
--          lists:
--          {sessions, queued, leased, done, cancelled, sessions still being submitted or -1,
--          workers, waiting, stopped},
--          for each session set aside: position, session, state, reason, attempts,
--          for each determinism fault: position, session

local experiment, most = ARGV[1], tonumber(ARGV[2])
local base = P .. 'e:' .. experiment
if call('EXISTS', base) == 0 then return nil end
local held = call('HMGET', base, 'n:queued', 'n:leased', 'n:done', 'cancelled',
  'submitting', 'n:waiting', 'n:stopped')
local numbers = { call('ZCARD', base .. ':places') }
for at = 1, 4 do numbers[#numbers + 1] = tonumber(held[at] or 0) end
numbers[#numbers + 1] = tonumber(held[5] or -1)
numbers[#numbers + 1] = call('ZCOUNT', P .. 'workers', '(' .. now_ms(), '+inf')
for at = 6, 7 do numbers[#numbers + 1] = tonumber(held[at] or 0) end

local aside, faults = {}, {}
for at, session in ipairs(call('SMEMBERS', base .. ':aside')) do
  if at > most then break end
  local found = call('HMGET', P .. 's:' .. session, 'state', 'reason', 'crashes', 'losses')
  local attempts = math.max(1, tonumber(found[3]) + tonumber(found[4]))
  local position = call('ZSCORE', base .. ':places', session)
  for _, value in ipairs({ position, session, found[1], found[2], tostring(attempts) }) do
    aside[#aside + 1] = value
  end
end
for _, session in ipairs(call('SMEMBERS', base .. ':faults')) do
  faults[#faults + 1] = call('ZSCORE', base .. ':places', session)
  faults[#faults + 1] = session
end
return { call('HGET', base, 'paused') or '', numbers, aside, faults }
