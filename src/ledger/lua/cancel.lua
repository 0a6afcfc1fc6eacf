-- Cancel: release a hold whose admission was never answered, and leave a tombstone, which refuses the admission if it is
-- still on its way (lua/admit.lua: VOID).
-- KEYS  1 account hash  2 key hash  3 holds hash
-- ARGV  1 request id  2 when the tombstone may be forgotten (ms since epoch)
-- Reply 'CANCELLED' | 'TOMBSTONED' there was no hold; the tombstone stands | 'MISSING' live state to be rebuilt
-- O(1).
local hold = redis.call('HGET', KEYS[3], ARGV[1])
if not hold then
  redis.call('HSET', KEYS[3], ARGV[1], '- ' .. ARGV[2])
  return 'TOMBSTONED'
end
if string.sub(hold, 1, 1) == '-' then return 'TOMBSTONED' end
local ep = redis.call('HGET', KEYS[1], 'ep')
if not ep or redis.call('HGET', KEYS[2], 'ep') ~= ep then return 'MISSING' end
local amount = string.match(hold, '^%d+')
redis.call('HINCRBY', KEYS[1], 'held', '-' .. amount)
redis.call('HINCRBY', KEYS[2], 'held', '-' .. amount)
redis.call('HSET', KEYS[3], ARGV[1], '- ' .. ARGV[2])
return 'CANCELLED'
