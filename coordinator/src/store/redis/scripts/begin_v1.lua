-- Stores an experiment without its sessions.
--
-- ARGV     id, team, document, traceparent, digest ('' for none), templates
-- Returns  the team it belongs to when that is another one, else ''

local id, team = ARGV[1], ARGV[2]
local key = P .. 'e:' .. id
local owner = call('HGET', key, 'team')
if owner and owner ~= team then return owner end
call('SADD', P .. 'experiments', id)
call('HSET', key, 'team', team, 'document', ARGV[3], 'traceparent', ARGV[4], 'cancelled', 0)
if ARGV[5] ~= '' then call('SET', P .. 'b:' .. ARGV[5], ARGV[6]) end
return ''
