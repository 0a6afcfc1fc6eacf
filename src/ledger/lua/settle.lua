-- Settle: releases the hold, debits, books the spend and appends to the journal (specification section 5), once per hold,
-- for several calls in order.
-- KEYS  of each call: account hash, key hash, holds hash, journal stream, and the member hash if the key is a person's
-- ARGV  of each call: request id;
--       '<credits (≤ 0)> <day> <week> <month> (starts, days since epoch) <now (ms since the epoch)>', after an m if the
--         key is a person's (each.inc.lua). If the call used other than the tokens it took, two words follow: the
--         difference for the key's limit and for the account's;
--       entry JSON
-- Reply of each call: 1 settled | 'NONE' no hold: already settled or expired, or lost by Redis; journal and book show which
--       | 'MISSING' live state to be rebuilt | {'ERROR', message}
-- O(1) for each call.
--- @include post
--- @include hold-record
--- @include each
--- @include call-limits

-- Created by the first call with limits.
local limits

local function settle(accountName, keyName, holdsRedisKey, journal, id, numbers, entry, memberName)
  local account, key, member = readLive(accountName, keyName, memberName)
  if not account then return 'MISSING' end
  local credits, day, week, month, now, more = string.match(numbers, '^m?(%S+) (%S+) (%S+) (%S+) (%S+)(.*)$')
  local at = { day = tonumber(day), week = tonumber(week), month = tonumber(month), now = tonumber(now) }
  local hold = redis.call('HGET', holdsRedisKey, id)
  if not hold or string.sub(hold, 1, 1) == '-' then return 'NONE' end
  local release, slack = amountsOf(hold)
  local isLimited = account.hasLimits or key.hasLimits
  -- Read the limits before any write, because reading them can fail.
  if isLimited then
    limits = limits or callLimits()
    limits.of(keyName)
    limits.of(accountName)
  end
  -- Delete first: a Redis out of memory still executes deletions, and then the later writes of the script.
  redis.call('HDEL', holdsRedisKey, id)
  local isPosted, fault = pcall(post, account, key, journal, tonumber(credits), release, at, entry, slack, member)
  if isPosted then
    if isLimited then
      local ofKey, ofAccount = string.match(more, '^ (%S+) (%S+)$')
      limits.release(accountName, keyName, hold, tonumber(ofKey or 0), tonumber(ofAccount or 0))
    end
    return 1
  end
  redis.call('HSET', holdsRedisKey, id, hold)
  error(fault)
end

local replies = each(settle, 4)
write()
if limits then limits.write() end
return replies
