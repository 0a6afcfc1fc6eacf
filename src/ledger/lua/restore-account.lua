-- Restore an account: second half of a rebuild; opens it for traffic again.
-- KEYS  1 account hash  2 holds hash
-- ARGV  1 account id  2 epoch  3 version  4 active 1|0  5 alert threshold  6 balance  7 seq
-- Reply 'RESTORED' | 'OLD' a later rebuild has been here
-- O(holds of the bucket); only after a loss.
local f = redis.call('HMGET', KEYS[1], 'ep', 'v', 'on', 'thr')
if f[1] and tonumber(f[1]) >= tonumber(ARGV[2]) then return 'OLD' end
local held = 0
for _, hold in ipairs(redis.call('HVALS', KEYS[2])) do
  local amount, account = string.match(hold, '^(%d+) %d+ %d+ (%d+) ')
  if account == ARGV[1] then held = held + tonumber(amount) end
end
local version, on, thr = ARGV[3], ARGV[4], ARGV[5]
if f[2] and tonumber(f[2]) > tonumber(version) then version, on, thr = f[2], f[3], f[4] end
redis.call('HSET', KEYS[1], 'ep', ARGV[2], 'v', version, 'on', on, 'thr', thr,
  'bal', ARGV[6], 'seq', ARGV[7], 'held', string.format('%.0f', held))
return 'RESTORED'
