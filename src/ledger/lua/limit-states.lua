-- Limit states: reads the call limits of a key and its account.
-- KEYS  1 account hash  2 key hash
-- Reply states (call-limits.inc.lua) | 'MISSING' live state to be rebuilt
-- O(1).
--- @include int
--- @include call-limits
local ep = redis.call('HGET', KEYS[1], 'ep')
if not ep or redis.call('HGET', KEYS[2], 'ep') ~= ep then return 'MISSING' end
local limits = callLimits()
return limits.states(limits.of(KEYS[2]), limits.of(KEYS[1]))
