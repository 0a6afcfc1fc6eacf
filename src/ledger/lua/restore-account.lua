-- Restore an account: last step of a rebuild; opens the account for traffic again.
-- KEYS  1 account hash  2 holds hash
-- ARGV  1 '<gateway>:<attempt>' as in begin-rebuild  2 account id  3 epoch  4 version  5 active 1|0  6 alert threshold
--       7 balance  8 seq
-- Reply 'RESTORED' | 'OLD' a later rebuild has begun
-- O(holds of the bucket); only after a loss.
--- @include int
local f = redis.call('HMGET', KEYS[1], 'rb', 'v', 'on', 'thr')
if f[1] ~= ARGV[1] then return 'OLD' end
local held = 0
for _, hold in ipairs(redis.call('HVALS', KEYS[2])) do
  local amount, account = string.match(hold, '^(%d+) %d+ %d+ (%d+) ')
  if account == ARGV[2] then held = held + tonumber(amount) end
end
local version, on, thr = ARGV[4], ARGV[5], ARGV[6]
if f[2] and tonumber(f[2]) > tonumber(version) then version, on, thr = f[2], f[3], f[4] end
redis.call('HDEL', KEYS[1], 'rb', 'ru')
redis.call('HSET', KEYS[1], 'ep', ARGV[3], 'v', version, 'on', on, 'thr', thr,
  'bal', ARGV[7], 'seq', ARGV[8], 'held', int(held))
return 'RESTORED'
