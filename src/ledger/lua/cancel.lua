-- Cancel: release a hold whose admission was never answered, and leave a tombstone, which refuses the admission if it is
-- still on its way (lua/admit.lua: VOID).
-- KEYS  1 account hash  2 key hash  3 holds hash
-- ARGV  1 request id  2 when the tombstone may be forgotten (ms since epoch)
-- Reply 'CANCELLED' | 'TOMBSTONED' there was no hold; the tombstone stands | 'MISSING' live state to be rebuilt
-- O(1).
--- @include int
--- @include hold-record
local hold = redis.call('HGET', KEYS[3], ARGV[1])
if not hold then
  redis.call('HSET', KEYS[3], ARGV[1], '- ' .. ARGV[2])
  return 'TOMBSTONED'
end
if string.sub(hold, 1, 1) == '-' then return 'TOMBSTONED' end
local ep = redis.call('HGET', KEYS[1], 'ep')
if not ep or redis.call('HGET', KEYS[2], 'ep') ~= ep then return 'MISSING' end
local amount, slack = amountsOf(hold)
for i = 1, 2 do
  -- 0 - x, because -x is "-0" of 0, which is no integer to Redis.
  redis.call('HINCRBY', KEYS[i], 'held', int(0 - amount))
  redis.call('HINCRBY', KEYS[i], 'slack', int(0 - slack))
end
redis.call('HSET', KEYS[3], ARGV[1], '- ' .. ARGV[2])
return 'CANCELLED'
