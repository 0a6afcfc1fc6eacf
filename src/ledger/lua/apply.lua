-- Apply: post an entry without a hold, once: a grant, or a charge whose hold was lost with the state of Redis.
-- KEYS  1 account hash  2 key hash (the account hash again where ARGV 2 is 0)  3 holds hash  4 journal stream
-- ARGV  1 entry id  2 books on a key 1|0  3 when the idempotency marker may be forgotten (ms since epoch)
--       4 credits (signed)  5 day  6 week  7 month  8 entry JSON
--       9 most that the balance, less its holds, may be away from 0; '' for a charge, which was made already
-- Reply {'APPLIED', balance after} | {'DONE', balance now} applied before | {'MISSING'} live state to be rebuilt
--       | {'BEYOND'} refused: it would take the balance further beyond the bound. Final: so is every repeat
-- O(1).
--- @include post
local account = readAccount(KEYS[1])
local key = nil
if not account then return { 'MISSING' } end
if ARGV[2] == '1' then
  key = readKey(KEYS[2])
  if not key or key.ep ~= account.ep then return { 'MISSING' } end
end
local marker = redis.call('HGET', KEYS[3], ARGV[1])
if marker then
  if string.sub(marker, -7) == ' beyond' then return { 'BEYOND' } end
  return { 'DONE', int(account.bal) }
end
if ARGV[9] ~= '' then
  local credits, most = tonumber(ARGV[4]), tonumber(ARGV[9])
  local isBeyond = credits > 0 and account.bal + credits > most or credits < 0 and account.bal - account.held + credits < -most
  if isBeyond then
    redis.call('HSET', KEYS[3], ARGV[1], '- ' .. ARGV[3] .. ' beyond')
    return { 'BEYOND' }
  end
end
local after = post(account, key, KEYS[4], tonumber(ARGV[4]), 0,
  tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8])
-- After what can fail: a marker without its entry would claim that the entry was applied.
redis.call('HSET', KEYS[3], ARGV[1], '- ' .. ARGV[3])
write()
return { 'APPLIED', after }
