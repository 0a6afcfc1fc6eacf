-- Cancel: release the hold of a call that will not be settled: its admission was never answered, or the hold came back with
-- an older Redis after its charge.
-- KEYS  1 account hash  2 key hash  3 holds hash
-- ARGV  1 request id
-- Reply 'CANCELLED' | 'NONE' there is no hold of it | 'MISSING' live state to be rebuilt
-- O(1).
--- @include int
--- @include hold-record
local hold = redis.call('HGET', KEYS[3], ARGV[1])
if not hold or string.sub(hold, 1, 1) == '-' then return 'NONE' end
local ep = redis.call('HGET', KEYS[1], 'ep')
if not ep or redis.call('HGET', KEYS[2], 'ep') ~= ep then return 'MISSING' end
local amount, slack = amountsOf(hold)
for i = 1, 2 do
  -- 0 - x, because -x is "-0" of 0, which is no integer to Redis.
  redis.call('HINCRBY', KEYS[i], 'held', int(0 - amount))
  redis.call('HINCRBY', KEYS[i], 'slack', int(0 - slack))
end
redis.call('HDEL', KEYS[3], ARGV[1])
return 'CANCELLED'
