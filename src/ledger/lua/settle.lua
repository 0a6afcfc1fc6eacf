-- Settle: release the hold, debit, book the spend, append to the journal (contract section 5). Once per hold.
-- KEYS  1 account hash  2 key hash  3 holds hash  4 journal stream
-- ARGV  1 request id  2 '<epoch of the admission> <credits (≤ 0)> <day> <week> <month> (starts, days since epoch)'
--       3 entry JSON
-- Reply 1 settled | 'DONE' settled or expired before, or lost with Redis' tail: journal and book tell
--       | 'LOST' Redis lost the hold (epoch changed): apply without it
--       | 'MISSING' live state to be rebuilt
-- O(1).
--- @include post
local account = readAccount(KEYS[1])
local key = readKey(KEYS[2])
if not account or not key or account.ep ~= key.ep then return 'MISSING' end
local epoch, credits, day, week, month = string.match(ARGV[2], '^(%S+) (%S+) (%S+) (%S+) (%S+)$')
local hold = redis.call('HGET', KEYS[3], ARGV[1])
if not hold then
  if account.ep == epoch then return 'DONE' end
  return 'LOST'
end
if string.sub(hold, 1, 1) == '-' then return 'DONE' end
redis.call('HDEL', KEYS[3], ARGV[1])
local release = tonumber(string.match(hold, '^%d+'))
post(account, key, KEYS[4], tonumber(credits), release, tonumber(day), tonumber(week), tonumber(month), ARGV[3])
return 1
