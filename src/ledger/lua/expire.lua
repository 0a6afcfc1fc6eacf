-- Expire: releases the hold of a dead gateway, with a ledger entry of charge 0, or deletes an expired idempotency marker.
-- Requests and tokens taken from limits stay taken: the call may have run.
-- KEYS  1 account hash  2 key hash  3 holds hash  4 journal stream  5 member hash, if the hold has one
-- ARGV  1 request id  2 now (ms since epoch)  3 day  4 week  5 month  6 entry JSON
-- Reply 'EXPIRED' | 'FORGOTTEN' | 'KEPT' settled meanwhile, or not due | 'MISSING' live state to be rebuilt
-- O(1).
--- @include post
--- @include hold-record
--- @include call-limits
local hold = redis.call('HGET', KEYS[3], ARGV[1])
if not hold then return 'KEPT' end
local kind, deadline = string.match(hold, '^(%S+) (%d+)')
if tonumber(deadline) > tonumber(ARGV[2]) then return 'KEPT' end
if kind == '-' then
  redis.call('HDEL', KEYS[3], ARGV[1])
  return 'FORGOTTEN'
end
local account, key, member = readLive(KEYS[1], KEYS[2], KEYS[5])
if not account then return 'MISSING' end
local amount, slack = amountsOf(hold)
local limits
if account.hasLimits or key.hasLimits then
  limits = callLimits()
  limits.release(KEYS[1], KEYS[2], hold, 0, 0)
end
redis.call('HDEL', KEYS[3], ARGV[1])
local at = { day = tonumber(ARGV[3]), week = tonumber(ARGV[4]), month = tonumber(ARGV[5]), now = tonumber(ARGV[2]) }
post(account, key, KEYS[4], 0, amount, at, ARGV[6], slack, member)
write()
if limits then limits.write() end
return 'EXPIRED'
