-- Holds a key in a lane; never shortens a hold. Begins with admission_scope.
--
-- KEYS[1]  string  scope of the key in the lane
-- ARGV[1]  milliseconds from now
--
-- Result   milliseconds that the key is held from now
local scope = open_scope(redis.call('GET', KEYS[1]))
scope[HELD] = math.max(scope[HELD], now + tonumber(ARGV[1]))
keep_scope(KEYS[1], scope)
return math.ceil(scope[HELD] - now)
