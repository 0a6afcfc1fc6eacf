-- Repost: apply again a journal entry that the book refused as superseded (made before a rebuild of the account's live
-- state), and delete the old entry from the journal in the same step: once, however many gateways try and however often.
-- KEYS  1 account hash  2 key hash (the account hash again where ARGV 2 is 0)  3 journal stream
-- ARGV  1 stream id of the old entry  2 books on a key 1|0  3 credits (signed)  4 day  5 week  6 month  7 entry JSON
--       8 epoch that the entry was made in: the account must have been rebuilt since
-- Reply 'APPLIED' | 'DONE' applied before | 'MISSING' live state to be rebuilt
--       | 'BEYOND' the old entry stays where it is: the balance would be beyond 2^53 micro-credits
-- O(1).
--- @include post
local account = readAccount(KEYS[1])
local key = nil
if not account or tonumber(account.ep) <= tonumber(ARGV[8]) then return 'MISSING' end
if ARGV[2] == '1' then
  key = readKey(KEYS[2])
  if not key or key.ep ~= account.ep then return 'MISSING' end
end
if not fits(account, tonumber(ARGV[3])) then return 'BEYOND' end
if redis.call('XDEL', KEYS[3], ARGV[1]) == 0 then return 'DONE' end
post(account, key, KEYS[3], tonumber(ARGV[3]), 0, tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7])
write()
return 'APPLIED'
