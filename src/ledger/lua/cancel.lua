-- Cancel: releases a hold that will not be settled: its admission was never answered, its client left, or it came back
-- with an older Redis after its charge. A call that did not run also returns what it took from call limits.
-- KEYS  1 account hash  2 key hash  3 holds hash  4 member hash, if the key is a person's
-- ARGV  1 request id  2 '1' if the call ran
-- Reply 'CANCELLED' | 'NONE' no hold | 'MISSING' live state to be rebuilt
-- O(1).
--- @include int
--- @include hold-record
--- @include call-limits
local hold = redis.call('HGET', KEYS[3], ARGV[1])
if not hold or string.sub(hold, 1, 1) == '-' then return 'NONE' end
local ep = redis.call('HGET', KEYS[1], 'ep')
if not ep or redis.call('HGET', KEYS[2], 'ep') ~= ep then return 'MISSING' end
if KEYS[4] and redis.call('HGET', KEYS[4], 'ep') ~= ep then return 'MISSING' end
local amount, slack = amountsOf(hold)
local limits
if redis.call('HEXISTS', KEYS[1], 'lim') == 1 or redis.call('HEXISTS', KEYS[2], 'lim') == 1 then
  limits = callLimits()
  if ARGV[2] == '1' then limits.release(KEYS[1], KEYS[2], hold, 0, 0)
  else limits.giveBack(KEYS[1], KEYS[2], hold) end
end
for _, name in ipairs({ KEYS[1], KEYS[2], KEYS[4] }) do
  -- 0 - x, because -x is "-0" of 0, which is no integer to Redis.
  redis.call('HINCRBY', name, 'held', int(0 - amount))
  redis.call('HINCRBY', name, 'slack', int(0 - slack))
end
if limits then limits.write() end
redis.call('HDEL', KEYS[3], ARGV[1])
return 'CANCELLED'
