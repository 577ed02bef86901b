-- Hands an answer to whoever waits for it; the first one stands.
--
-- KEYS[1]  hash    agon:door:{door}:asks     field address -> "asked_ms digest ask-as-json"
-- KEYS[2]  hash    agon:door:{door}:answers  field address -> answer as JSON
-- KEYS[3]  zset    agon:door:{door}:until    member address, score ms at which it goes
-- KEYS[4]  string  agon:door:{door}:version  changes with every change of what waits
-- ARGV[1]  address
-- ARGV[2]  digest of the question that is answered
-- ARGV[3]  answer as JSON
-- ARGV[4]  only an ask of this team; "" any
-- ARGV[5]  milliseconds that the answer stays for an asker who is away
-- ARGV[6]  milliseconds that the four keys stay after that
--
-- Result   {"taken"}             it stands
--          {"answered", answer}  this one stood before, as JSON
--          {"other", digest}     the address is asked with another request
--          {"nobody"}            nobody asks that
local function change(now_us)
  local version = math.max(now_us, (tonumber(redis.call('GET', KEYS[4])) or 0) + 1)
  redis.call('SET', KEYS[4], string.format('%.0f', version))
end
local known = redis.call('HGET', KEYS[1], ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[1]) or 0)
if not known or ends <= now then
  return {'nobody'}
end
local digest, ask = string.match(known, '^%d+ (%S+) (.*)$')
if ARGV[4] ~= '' and cjson.decode(ask).team ~= ARGV[4] then
  return {'nobody'}
end
if digest ~= ARGV[2] then
  return {'other', digest}
end
local answer = redis.call('HGET', KEYS[2], ARGV[1])
if answer then
  return {'answered', answer}
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[3], 'GT', now + tonumber(ARGV[5]), ARGV[1])
change(time[1] * 1000000 + time[2])
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ARGV[6])
end
return {'taken'}
