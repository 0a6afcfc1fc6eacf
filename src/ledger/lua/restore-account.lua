-- Restore an account: last step of a rebuild; opens the account for traffic again. Journal entries that the book lacks and
-- will refuse, because their epoch is over, are applied in the same step: their credits cannot be spent a second time.
-- KEYS  1 account hash  2 holds hash  3 journal stream  4… of each such entry: key hash (the account hash again where it has none)
-- ARGV  1 '<gateway>:<attempt>' as in begin-rebuild  2 account id  3 epoch  4 version  5 active 1|0  6 alert threshold
--       7 overdraft  8 balance  9 seq, then of each such entry: stream id, books on a key 1|0, credits (signed), day, week, month, entry JSON
-- Reply 'RESTORED' | 'OLD' a later rebuild has begun
-- O(holds of the bucket + entries); only after a loss.
--- @include post
--- @include hold-record
local f = redis.call('HMGET', KEYS[1], 'rb', 'v', 'on', 'thr', 'od')
if f[1] ~= ARGV[1] then return 'OLD' end
local held, slack = 0, 0
for _, hold in ipairs(redis.call('HVALS', KEYS[2])) do
  if string.match(hold, '^%d+ %d+ %d+ (%d+) ') == ARGV[2] then
    local amount, beyond = amountsOf(hold)
    held, slack = held + amount, slack + beyond
  end
end
local version, on, thr, od = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
if f[2] and tonumber(f[2]) > tonumber(version) then version, on, thr, od = f[2], f[3], f[4], f[5] or od end
redis.call('HDEL', KEYS[1], 'rb', 'ru')
redis.call('HSET', KEYS[1], 'ep', ARGV[3], 'v', version, 'on', on, 'thr', thr, 'od', od,
  'bal', ARGV[8], 'seq', ARGV[9], 'held', int(held), 'slack', int(slack))
local restored = readAccount(KEYS[1])
for i = 4, #KEYS do
  local at = 10 + (i - 4) * 7
  -- An entry that does not fit waits in the journal until it does (lua/repost.lua).
  if fits(restored, tonumber(ARGV[at + 2])) and redis.call('XDEL', KEYS[3], ARGV[at]) == 1 then
    local key = ARGV[at + 1] == '1' and readKey(KEYS[i]) or nil
    post(restored, key, KEYS[3], tonumber(ARGV[at + 2]), 0,
      tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5]), ARGV[at + 6])
  end
end
write()
return 'RESTORED'
