-- Post once: posts an entry without a hold, idempotently: a grant, a refund, or a charge whose hold Redis lost.
-- KEYS  1 account hash  2 key hash (the account hash again if ARGV 2 is 0)  3 holds hash  4 journal stream
--       5 member hash, if the key is a person's
-- ARGV  1 entry id  2 books on a key 1|0  3 credits (signed)
--       4 '<day> <week> <month> <now> <admitted>' of a charge or a grant: starts, and ms since the epoch; of a refund
--         '<day> <week> <month> <start of the key's five hours> <start of the account's> <start of the member's, or 0>', those of its charge
--       5 entry JSON  6 expiry of the idempotency marker (ms since epoch)
--       7 required epoch of the account, or ''
--       8 maximum absolute balance minus holds; '' to skip this check
-- Reply {'APPLIED', balance after} | {'DONE', balance now} applied before | {'MISSING'} live state to be rebuilt
--       | {'REBUILT'} the account was rebuilt since: read the book again
--       | {'HELD'} the hold exists, such as in an older Redis that took over: settle it
--       | {'BEYOND'} the balance has no room for it. With ARGV 8 final: repeats get it too
-- O(1).
--- @include post
local account, key, member
if ARGV[2] == '1' then account, key, member = readLive(KEYS[1], KEYS[2], KEYS[5])
else account = readAccount(KEYS[1]) end
if not account then return { 'MISSING' } end
if ARGV[7] ~= '' and account.ep ~= ARGV[7] then return { 'REBUILT' } end
local marker = redis.call('HGET', KEYS[3], ARGV[1])
if marker then
  if string.sub(marker, 1, 1) ~= '-' then return { 'HELD' } end
  if string.sub(marker, -7) == ' beyond' then return { 'BEYOND' } end
  return { 'DONE', int(account.bal) }
end
local credits = tonumber(ARGV[3])
if ARGV[8] ~= '' then
  local most = tonumber(ARGV[8])
  local isBeyond = credits > 0 and account.bal + credits > most or credits < 0 and account.bal - account.held + credits < -most
  if isBeyond then
    redis.call('HSET', KEYS[3], ARGV[1], '- ' .. ARGV[6] .. ' beyond')
    return { 'BEYOND' }
  end
end
if not fits(account, credits) then return { 'BEYOND' } end
local day, week, month, first, second, third = string.match(ARGV[4], '^(%d+) (%d+) (%d+) (%d+) (%d+) ?(%d*)$')
local at = { day = tonumber(day), week = tonumber(week), month = tonumber(month) }
if credits > 0 then at.hour, at.accountHour, at.memberHour = tonumber(first), tonumber(second), tonumber(third)
else at.now, at.admitted = tonumber(first), tonumber(second) end
local after = post(account, key, KEYS[4], credits, 0, at, ARGV[5], 0, member)
-- Last, after everything that can fail: a marker without its entry would claim that the entry was applied.
redis.call('HSET', KEYS[3], ARGV[1], '- ' .. ARGV[6])
write()
return { 'APPLIED', after }
