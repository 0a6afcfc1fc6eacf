-- Publish an account: set its state, threshold, overdraft and limits of calls as committed to the book. Never goes back to an
-- older version.
-- KEYS  1 account hash  2 holds hash
-- ARGV  1 version  2 active 1|0  3 alert threshold (micro-credits)  4 overdraft (micro-credits)  5 account id
--       6 limits of calls as in the hash (post.inc.lua), or ''
-- No reply. An account that is not live gets the record all the same, without an epoch: a rebuild under way may have read the book
-- before the change, and leaves a newer version as it is.
-- O(1), and O(holds of the bucket) if calls in flight are limited that were not.
--- @include int
--- @include hold-owners
--- @include call-limits
local f = redis.call('HMGET', KEYS[1], 'v', 'lim')
if f[1] and tonumber(f[1]) >= tonumber(ARGV[1]) then return end
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'on', ARGV[2], 'thr', ARGV[3], 'od', ARGV[4])
if ARGV[6] ~= (f[2] or '') then
  callLimits().put(KEYS[1], ARGV[6], tonumber(ARGV[1]), function()
    return countHolds(KEYS[2], 2, ARGV[5])
  end)
end
