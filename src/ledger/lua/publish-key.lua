-- Publish a key: make a committed record the one that every gateway authorizes with. Never goes back to an older version.
-- KEYS  1 account hash  2 key hash  3 holds hash
-- ARGV  1 version  2 record JSON  3 '1' if the key was created just now (it has spent nothing)  4 key id
--       5 limits of calls as in the hash (post.inc.lua), or ''
-- No reply. A key that is not live gets version and record all the same, without an epoch: a rebuild under way may have read the
-- book before the change, and leaves a newer version as it is. Its next use rebuilds it, but for one that was created just now.
-- O(1), and O(holds of the bucket) if calls in flight are limited that were not.
--- @include int
--- @include hold-owners
--- @include call-limits
local f = redis.call('HMGET', KEYS[2], 'v', 'lim')
local version = f[1]
if version and tonumber(version) >= tonumber(ARGV[1]) then return end
redis.call('HSET', KEYS[2], 'v', ARGV[1], 'rec', ARGV[2])
if ARGV[5] ~= (f[2] or '') then
  callLimits().put(KEYS[2], ARGV[5], tonumber(ARGV[1]), function()
    return countHolds(KEYS[3], 1, ARGV[4])
  end)
end
if version or ARGV[3] ~= '1' then return end
local ep = redis.call('HGET', KEYS[1], 'ep')
if ep then
  redis.call('HSET', KEYS[2], 'ep', ep, 'held', '0', 'slack', '0',
    'd', '0', 'ds', '0', 'w', '0', 'ws', '0', 'm', '0', 'ms', '0')
end
