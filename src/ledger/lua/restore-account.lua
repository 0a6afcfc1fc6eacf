-- Restore account: last step of a rebuild; reopens the account.
-- KEYS  1 account hash  2 holds hash
-- ARGV  1 '<gateway>:<attempt>' as in begin-rebuild  2 account id  3 epoch  4 version  5 active 1|0  6 alert threshold
--       7 overdraft  8 balance  9 seq  10 call limits as in the hash (post.inc.lua), or ''
--       11 '<d> <ds> <w> <ws> <m> <ms> <h> <hs> <ts>' (windows)  12 start of the five hours  13 spending limits (JSON)
-- Reply 'RESTORED' | 'OLD' a later rebuild has begun
-- O(holds of the bucket); only after a loss.
--- @include int
--- @include hold-record
--- @include hold-owners
--- @include call-limits
local f = redis.call('HMGET', KEYS[1], 'rb', 'v', 'on', 'thr', 'od', 'lim', 'sl')
if f[1] ~= ARGV[1] then return 'OLD' end
local held, slack, open = 0, 0, 0
for _, hold in ipairs(redis.call('HVALS', KEYS[2])) do
  if select(2, ownersOf(hold)) == ARGV[2] then
    local amount, beyond = amountsOf(hold)
    held, slack, open = held + amount, slack + beyond, open + 1
  end
end
local version, on, thr, od, lim, sl = ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[10], ARGV[13]
if f[2] and tonumber(f[2]) > tonumber(version) then
  version, on, thr, od, lim, sl = f[2], f[3], f[4], f[5], f[6] or '', f[7] or sl
end
-- The holds determine how many calls are open.
redis.call('HDEL', KEYS[1], 'rb', 'ru', 'open')
if lim ~= '' or f[6] then
  callLimits().put(KEYS[1], lim, tonumber(version), function() return open end)
end
redis.call('HSET', KEYS[1], 'ep', ARGV[3], 'v', version, 'on', on, 'thr', thr, 'od', od, 'sl', sl,
  'bal', ARGV[8], 'seq', ARGV[9], 'win', ARGV[9] .. ' ' .. ARGV[11], 'h', ARGV[12],
  'held', int(held), 'slack', int(slack))
return 'RESTORED'
