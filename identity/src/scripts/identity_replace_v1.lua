-- Puts a document in the place of the version that its writer has read.
-- KEYS[1]  hash with fields version and document
-- ARGV[1]  version that was read, empty when there was none
-- ARGV[2]  version of the new document
-- ARGV[3]  the new document
-- Result: 1 replaced, 0 another version stands there
local version = redis.call('HGET', KEYS[1], 'version') or ''
if version ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'document', ARGV[3])
return 1
