-- Publish key: every gateway authorizes with the committed record from now on. Ignores older versions.
-- KEYS  1 account hash  2 key hash  3 holds hash  4 member hash, if the key is a person's
-- ARGV  1 version  2 record JSON  3 '1' for a new key (it has spent nothing), '2' for the first of a member
--       (who has spent nothing)  4 key id
--       5 call limits as in the hash (post.inc.lua), or ''
-- No reply. A key that is not live gets version and record too, without an epoch: a rebuild in progress may have read the
-- book before the change, and keeps a newer version. Its next use rebuilds it; a new key goes live here.
-- O(1), and O(holds of the bucket) for a new limit of calls in flight.
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
if version or ARGV[3] == '0' then return end
local ep = redis.call('HGET', KEYS[1], 'ep')
for _, name in ipairs(ep and { KEYS[2], ARGV[3] == '2' and KEYS[4] or nil } or {}) do
  redis.call('HSET', name, 'ep', ep, 'held', '0', 'slack', '0',
    'd', '0', 'ds', '0', 'w', '0', 'ws', '0', 'm', '0', 'ms', '0', 'h', '0', 'hs', '0', 'ts', '0')
end
