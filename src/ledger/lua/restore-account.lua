-- Restore an account: last step of a rebuild; opens the account for traffic again. Journal entries that the book lacks and
-- will refuse, because their epoch is over, are applied in the same step: their credits cannot be spent a second time.
-- KEYS  1 account hash  2 holds hash  3 journal stream  4… of each such entry: key hash (the account hash again where it has none)
-- ARGV  1 '<gateway>:<attempt>' as in begin-rebuild  2 account id  3 epoch  4 version  5 active 1|0  6 alert threshold
--       7 balance  8 seq, then of each such entry: stream id, books on a key 1|0, credits (signed), day, week, month, entry JSON
-- Reply 'RESTORED' | 'OLD' a later rebuild has begun
-- O(holds of the bucket + entries); only after a loss.
--- @include post
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
local restored = readAccount(KEYS[1])
for i = 4, #KEYS do
  local at = 9 + (i - 4) * 7
  -- An entry that does not fit waits in the journal until it does (lua/post-once.lua).
  if fits(restored, tonumber(ARGV[at + 2])) and redis.call('XDEL', KEYS[3], ARGV[at]) == 1 then
    local key = ARGV[at + 1] == '1' and readKey(KEYS[i]) or nil
    post(restored, key, KEYS[3], tonumber(ARGV[at + 2]), 0,
      tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5]), ARGV[at + 6])
  end
end
write()
return 'RESTORED'
