-- Take request: takes one request from the call limits of a key and its account, for a read of a job.
-- KEYS  1 account hash  2 key hash
-- Reply {1 if it was taken, or 0; states (call-limits.inc.lua)} | 'MISSING' live state to be rebuilt
-- O(1).
--- @include int
--- @include call-limits
local ep = redis.call('HGET', KEYS[1], 'ep')
if not ep or redis.call('HGET', KEYS[2], 'ep') ~= ep then return 'MISSING' end
local limits = callLimits()
local account, key = limits.of(KEYS[1]), limits.of(KEYS[2])
local isTaken = limits.hasRequest(account) and limits.hasRequest(key)
if isTaken then
  limits.takeRequest(account)
  limits.takeRequest(key)
  limits.write()
end
return { isTaken and 1 or 0, limits.states(key, account) }
