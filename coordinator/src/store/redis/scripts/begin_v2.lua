-- Stores an experiment without its sessions, and marks it as incomplete until the last of them
-- has its place. A coordinator that dies in between leaves the mark; a later submission replaces
-- it and completes the experiment.
--
-- ARGV     id, team, document, traceparent, digest ('' for none), templates, number of sessions,
--          priority, budget in nano-dollars ('' for none), 1 when the content cache may answer
-- Returns  the team it belongs to when that is another one, else ''; the submission's number

local id, team = ARGV[1], ARGV[2]
local key = P .. 'e:' .. id
local owner = call('HGET', key, 'team')
if owner and owner ~= team then return { owner, 0 } end
local submission = count('submission')
call('SADD', P .. 'experiments', id)
call('HSET', key, 'team', team, 'document', ARGV[3], 'traceparent', ARGV[4], 'cancelled', 0,
  'submitting', ARGV[7], 'submission', submission)

-- A budget that changed in the file counts from now on; a higher one resumes.
local function is_higher(budget, than)
  if than == '' then return false end
  if budget == '' or #budget ~= #than then return budget == '' or #budget > #than end
  return budget > than
end
local budget = ARGV[9]
local before = call('HMGET', key, 'budget', 'file_budget')
call('HSET', key, 'priority', ARGV[8], 'content_cache', ARGV[10], 'file_budget', budget)
call('ZREM', P .. 't:' .. team, id)
if budget ~= (before[2] or '') then
  call('HSET', key, 'budget', budget)
  if is_higher(budget, before[1] or '') then end_pause(id, team) end
end
take_turns(id, team)
if ARGV[5] ~= '' then call('SET', P .. 'b:' .. ARGV[5], ARGV[6]) end
return { '', submission }
