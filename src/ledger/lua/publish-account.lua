-- Publish an account: its state and threshold, as committed to the book. Never goes back to an older version.
-- KEYS  1 account hash
-- ARGV  1 version  2 active 1|0  3 alert threshold (micro-credits)
-- Reply 'PUBLISHED' | 'NEWER' | 'ABSENT' not live: the next use rebuilds it from the book
-- O(1).
local version = redis.call('HGET', KEYS[1], 'v')
if not version then return 'ABSENT' end
if tonumber(version) >= tonumber(ARGV[1]) then return 'NEWER' end
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'on', ARGV[2], 'thr', ARGV[3])
return 'PUBLISHED'
