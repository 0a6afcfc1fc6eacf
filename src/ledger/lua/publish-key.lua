-- Publish a key: make a committed record the one that every gateway authorises with. Never goes back to an older version.
-- KEYS  1 account hash  2 key hash
-- ARGV  1 version  2 record JSON  3 '1' where the key was created just now (it has spent nothing)
-- Reply 'PUBLISHED' | 'NEWER' this version or a newer one stands
--       | 'ABSENT' not live: the next use rebuilds it from the book. Version and record are stored without an epoch all the
--         same: a rebuild under way may have read the book before the change, and leaves a newer version as it is
-- O(1).
local version = redis.call('HGET', KEYS[2], 'v')
if version then
  if tonumber(version) >= tonumber(ARGV[1]) then return 'NEWER' end
  redis.call('HSET', KEYS[2], 'v', ARGV[1], 'rec', ARGV[2])
  return 'PUBLISHED'
end
local ep = redis.call('HGET', KEYS[1], 'ep')
if ARGV[3] ~= '1' or not ep then
  redis.call('HSET', KEYS[2], 'v', ARGV[1], 'rec', ARGV[2])
  return 'ABSENT'
end
redis.call('HSET', KEYS[2], 'v', ARGV[1], 'rec', ARGV[2], 'ep', ep, 'held', '0',
  'd', '0', 'ds', '0', 'w', '0', 'ws', '0', 'm', '0', 'ms', '0')
return 'PUBLISHED'
