-- Publish account: sets state, threshold, overdraft and call limits as committed to the book. Ignores older versions.
-- KEYS  1 account hash  2 holds hash
-- ARGV  1 version  2 active 1|0  3 alert threshold (micro-credits)  4 overdraft (micro-credits)  5 account id
--       6 call limits as in the hash (post.inc.lua), or ''  7 spending limits (JSON)
-- No reply. An account that is not live gets the record too, without an epoch: a rebuild in progress may have read the
-- book before the change, and keeps a newer version.
-- O(1), and O(holds of the bucket) for a new limit of calls in flight.
--- @include int
--- @include hold-owners
--- @include call-limits
local f = redis.call('HMGET', KEYS[1], 'v', 'lim')
if f[1] and tonumber(f[1]) >= tonumber(ARGV[1]) then return end
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'on', ARGV[2], 'thr', ARGV[3], 'od', ARGV[4], 'sl', ARGV[7])
if ARGV[6] ~= (f[2] or '') then
  callLimits().put(KEYS[1], ARGV[6], tonumber(ARGV[1]), function()
    return countHolds(KEYS[2], 2, ARGV[5])
  end)
end
