-- Ends the pause of an experiment.
--
-- ARGV     experiment, its budget in nano-dollars from now on ('' for that which it has)
-- Returns  1, or 0 without such an experiment

local experiment, budget = ARGV[1], ARGV[2]
local base = P .. 'e:' .. experiment
if call('EXISTS', base) == 0 then return 0 end
if budget ~= '' then call('HSET', base, 'budget', budget) end
end_pause(experiment, call('HGET', base, 'team'))
announce()
return 1
