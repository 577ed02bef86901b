-- Stores an experiment without its sessions, and marks it as incomplete until the last of them
-- has its place. A coordinator that dies in between leaves the mark; a later submission replaces
-- it and completes the experiment.
--
-- ARGV     id, team, document, traceparent, digest ('' for none), templates, number of sessions
-- Returns  the team it belongs to when that is another one, else ''; the submission's number

local id, team = ARGV[1], ARGV[2]
local key = P .. 'e:' .. id
local owner = call('HGET', key, 'team')
if owner and owner ~= team then return { owner, 0 } end
local submission = count('submission')
call('SADD', P .. 'experiments', id)
call('HSET', key, 'team', team, 'document', ARGV[3], 'traceparent', ARGV[4], 'cancelled', 0,
  'submitting', ARGV[7], 'submission', submission)
if ARGV[5] ~= '' then call('SET', P .. 'b:' .. ARGV[5], ARGV[6]) end
return { '', submission }
