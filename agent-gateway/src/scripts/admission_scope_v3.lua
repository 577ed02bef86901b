-- Stands at the head of every admission script: the clock and the state of one scope. All scripts
-- of a pool work on the same slot and on Redis's clock.
--
-- string  agon:admission:{pool}:<key>         limits of a key over all lanes
-- string  agon:admission:{pool}:<key>:<lane>  the same in one lane
-- Both are MessagePack, so that reading and writing a scope costs one command and no number is
-- printed or parsed. A scope is one flat list, which is read five times as fast as a map; q is the
-- quantity: 1 requests, 2 tokens, 3 input tokens, 4 output tokens.
local AT = 1             -- when the levels were true (ms)
local HELD = 2           -- nobody may use it until then (ms)
local GATHERER = 3       -- the asker that gathers for a charge above the burst
local GATHERS_UNTIL = 4  -- until when it does (ms)
local MINUTE = 5         -- the minute of what was used
local LEFT = 5           -- + q: the level; false: never used, full
local SHOWN = 9          -- + q: limit that the provider's headers showed; 0: none
local USED = 13          -- + q: taken in this minute
local BEFORE = 17        -- + q: taken in the minute before
local DAYS = 22          -- from here: hour, requests, hour, requests ... of 25 hours, oldest first

local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local minute, hour = math.floor(now / 60000), math.floor(now / 3600000)
local idle_ms, hours_kept = 7200000, 25
-- What nobody uses any more leaves by itself: its levels are full by then, its day is over.
local stays_ms = 100000000

local function open_scope(blob)
  if blob then
    return {cmsgpack.unpack(blob)}
  end
  return {now, 0, '', 0, minute, false, false, false, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
end

local function keep_scope(key, scope)
  local held = scope[HELD] - now
  redis.call('SET', key, cmsgpack.pack(unpack(scope)), 'PX',
    held > 0 and math.ceil(held) + stays_ms or stays_ms)
end

