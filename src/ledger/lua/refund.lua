-- Refund: give back the charge of a job that failed, once, however many gateways ask and however often.
-- KEYS  1 account hash  2 key hash  3 holds hash  4 journal stream
-- ARGV  1 entry id, made from the charge's  2 epoch in which the book was asked for the charge
--       3 when the idempotency marker may be forgotten (ms since epoch)  4 credits (> 0)
--       5 day  6 week  7 month (starts of the periods that the charge was booked to)  8 entry JSON
-- Reply 'APPLIED' | 'DONE' applied before | 'MOVED' the account was rebuilt since: ask the book again
--       | 'BEYOND' not now: the balance would be beyond 2^53 micro-credits | 'MISSING' live state to be rebuilt
-- O(1).
--- @include post
local account = readAccount(KEYS[1])
local key = readKey(KEYS[2])
if not account or not key or account.ep ~= key.ep then return 'MISSING' end
if account.ep ~= ARGV[2] then return 'MOVED' end
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return 'DONE' end
if not fits(account, tonumber(ARGV[4])) then return 'BEYOND' end
post(account, key, KEYS[4], tonumber(ARGV[4]), 0, tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8])
-- After what can fail: a marker without its entry would claim that the entry was applied.
redis.call('HSET', KEYS[3], ARGV[1], '- ' .. ARGV[3])
write()
return 'APPLIED'
