-- Publish an account: set its state, threshold and overdraft as committed to the book. Never goes back to an older version.
-- KEYS  1 account hash
-- ARGV  1 version  2 active 1|0  3 alert threshold (micro-credits)  4 overdraft (micro-credits)
-- Reply 'PUBLISHED' | 'NEWER' this version or a newer one stands
--       | 'ABSENT' not live: the next use rebuilds it from the book. The record is stored without an epoch all the same: a
--         rebuild under way may have read the book before the change, and leaves a newer version as it is
-- O(1).
local f = redis.call('HMGET', KEYS[1], 'v', 'ep')
if f[1] and tonumber(f[1]) >= tonumber(ARGV[1]) then return 'NEWER' end
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'on', ARGV[2], 'thr', ARGV[3], 'od', ARGV[4])
if not f[2] then return 'ABSENT' end
return 'PUBLISHED'
