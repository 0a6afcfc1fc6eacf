-- Admit: checks versions, call limits, spending limits and balance, and takes the hold (specification section 3, checks
-- 11 and 12; section 5, "Estimate and overdraft"; section 11), for several calls in order. Credits must cover the
-- estimates of all open calls including this one; credits plus overdraft must cover all holds. With an overdraft of 0
-- the second implies the first.
-- KEYS  of each call: account hash, key hash, holds hash, and the member hash if the key is a person's
-- ARGV  of each call: request id;
--       '<key version> <account version> <hold (micro-credits)> <estimate (0 to hold)> <spending limits or ->', after an m
--         if the key is a person's (each.inc.lua). Each limit is
--         '<owner: key k, member m, account a><window d|w|m|h|t><start of the day, week or month now, else 0>=<limit>',
--         comma-separated. One argument, because an argument costs the gateway as much as splitting this text costs here. Two words
--         follow if key or account has call limits, or the presented value expires, or the call counts tokens: the expiry
--         (ms since epoch) or -; and the estimated tokens, * to take from the buckets of counting alone, or - without
--         limits;
--       hold record: see hold-record.inc.lua
--       and after all calls: the admission deadline (ms since epoch, by the clock of this Redis)
-- Reply of each call: 1 held | {'STALE'} | {'MISSING'} live state to be rebuilt
--       | {'LATE'} past the deadline | {'VOID'} repeated | {'ENDED'} the presented value has expired
--       | {'LIMIT', '<spent> <start of the five hours> <held> <sum of estimates>' of each limit's owner, comma-separated;
--         balance, held, sum of estimates, overdraft of the account}
--       | {'FUNDS', balance, held, sum of estimates, overdraft}
--       and with call limits, including the states of key and account (`states` in call-limits.inc.lua):
--       {'HELD', states with this call} | {'LIMITED', states}
--       | LIMIT and FUNDS with the states at the end
--       | {'COUNTED', ms until a count is free, counts a minute, 'key' or 'account'}
--       | {'ERROR', message}
-- O(1) for each call.
--- @include int
--- @include each
--- @include call-limits
--- @include windows

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local isLate = now > tonumber(ARGV[#ARGV])

-- Created by the first call with limits.
local limits

-- Accounts, and keys and members, of this run, by Redis key: each is read once and written once, however many calls it has.
local accounts, keys = {}, {}

-- Largest integer that a double holds exactly. A large balance with a large overdraft covers more; larger sums of holds
-- are refused, because they would not be exact.
local MAX_EXACT = 9007199254740991

local function readAccount(name)
  if not accounts[name] then
    local f = redis.call('HMGET', name, 'v', 'ep', 'bal', 'held', 'slack', 'od', 'h')
    accounts[name] = { name = name, v = f[1], ep = f[2], bal = tonumber(f[3]), held = tonumber(f[4]), slack = tonumber(f[5]),
      overdraft = tonumber(f[6]), h = tonumber(f[7]) }
  end
  return accounts[name]
end

local function readKey(name)
  if not keys[name] then
    local f = redis.call('HMGET', name, 'v', 'ep', 'held', 'slack', 'h')
    keys[name] = { name = name, v = f[1], ep = f[2], held = tonumber(f[3]), slack = tonumber(f[4]), h = tonumber(f[5]) }
  end
  return keys[name]
end

-- The windows of an account are nil if an earlier version posted without them.
local function readWindows(account, key, member)
  if not account.windows then
    local f = redis.call('HMGET', account.name, 'win', 'h', 'seq')
    account.windows = packedIn(f[1], f[2], f[3])
  end
  key.windows = key.windows or windowsIn(redis.call('HMGET', key.name, unpack(WINDOW_FIELDS)), 1)
  if member and not member.windows then readWindows(account, member) end
end

-- The five hours of an owner begin with its first call after the last ones. What an account spent before is known by its
-- time.
local function beginHours(owner, isPacked)
  if now < owner.h + FIVE_HOURS_MS then return end
  owner.h = now
  redis.call('HSET', owner.name, 'h', int(now))
  if not isPacked then redis.call('HSET', owner.name, 'hs', '0') end
  if owner.windows then owner.windows[HOURS], owner.windows[HOURS + 1] = now, 0 end
end

local LIMIT = '(%a)(%a)(%d+)=(%d+)'

-- Whether the call would exceed a spending limit.
local function exceeds(limits, owners, hold, estimate, overdraft)
  for owner, window, start, limit in string.gmatch(limits, LIMIT) do
    local of = owners[owner]
    -- Subtract first: limit plus overdraft would not be exact, because either can be almost 2^53.
    local beyond = spentIn(of.windows, window, tonumber(start), now) - tonumber(limit)
    if beyond + of.held - of.slack + estimate > 0 or beyond + of.held + hold > overdraft then return true end
  end
  return false
end

local function statesOf(limits, owners)
  local states = {}
  for owner, window, start in string.gmatch(limits, LIMIT) do
    local of = owners[owner]
    states[#states + 1] = int(spentIn(of.windows, window, tonumber(start), now)) .. ' ' .. int(of.windows[HOURS])
      .. ' ' .. int(of.held) .. ' ' .. int(of.held - of.slack)
  end
  return table.concat(states, ',')
end

-- Counting tokens has a bucket of its own, field cnt '<debt> <time (ms)>' of key and account: ten times rpm_limit; for a
-- key without one, 600 a minute. Like the buckets of call-limits.inc.lua otherwise.
local UNIT = 60000
local function countsIn(name, limits, usual)
  local most = limits and limits.rpm and limits.rpm * 10 or usual
  if not most then return nil end
  local debt, at = string.match(redis.call('HGET', name, 'cnt') or '0 0', '^(%S+) (%S+)$')
  debt = math.max(0, tonumber(debt) - most * math.max(0, now - tonumber(at)))
  local wait = math.max(0, math.ceil((debt - (most - 1) * UNIT) / most))
  return { name = name, most = most, debt = debt, wait = wait }
end

local function count(counts)
  if counts then redis.call('HSET', counts.name, 'cnt', int(counts.debt + UNIT) .. ' ' .. int(now)) end
end

local function admit(accountName, keyName, holdsRedisKey, id, numbers, record, memberName)
  if isLate then return { 'LATE' } end
  local version, accountVersion, amount, likely, spending, more =
    string.match(numbers, '^m?(%S+) (%S+) (%S+) (%S+) (%S+)(.*)$')
  local account, key = readAccount(accountName), readKey(keyName)
  local member = memberName and readKey(memberName)
  if not tonumber(account.ep) or key.ep ~= account.ep or not account.h or not key.h
    or member and (member.ep ~= account.ep or not member.h) then return { 'MISSING' } end
  if key.v ~= version or account.v ~= accountVersion then return { 'STALE' } end
  local keyLimits, accountLimits, tokens, isCounting
  if more ~= '' then
    local ends, likelyTokens = string.match(more, '^ (%S+) (%S+)$')
    if ends ~= '-' and tonumber(ends) <= now then return { 'ENDED' } end
    isCounting = likelyTokens == '*'
    tokens = isCounting and 0 or tonumber(likelyTokens)
    if tokens then
      limits = limits or callLimits(now)
      keyLimits, accountLimits = limits.of(keyName), limits.of(accountName)
    end
  end
  local hold, estimate, overdraft = tonumber(amount), tonumber(likely), account.overdraft
  local refusal
  if spending ~= '-' then
    readWindows(account, key, member)
    if not account.windows then return { 'MISSING' } end
    local owners = { k = key, m = member, a = account }
    if exceeds(spending, owners, hold, estimate, overdraft) then
      refusal = { 'LIMIT', statesOf(spending, owners),
        int(account.bal), int(account.held), int(account.held - account.slack), int(overdraft) }
    end
  end
  local held, estimated = account.held, account.held - account.slack
  local missing = held + hold - account.bal
  if not refusal and (account.bal - estimated < estimate or missing > overdraft or held + hold > MAX_EXACT) then
    refusal = { 'FUNDS', int(account.bal), int(held), int(estimated), int(overdraft) }
  end
  local hasRoom = limits and (isCounting and limits.hasPlace or limits.hasRoom)
  if tokens and not (hasRoom(keyLimits, tokens) and hasRoom(accountLimits, tokens)) then
    return { 'LIMITED', limits.states(keyLimits, accountLimits) }
  end
  if refusal then
    if tokens then refusal[#refusal + 1] = limits.states(keyLimits, accountLimits) end
    return refusal
  end
  local ofKey, ofAccount
  if isCounting then
    ofKey, ofAccount = countsIn(keyName, keyLimits, 600), countsIn(accountName, accountLimits)
    if ofAccount and ofAccount.wait > ofKey.wait then return { 'COUNTED', int(ofAccount.wait), int(ofAccount.most), 'account' } end
    if ofKey.wait > 0 then return { 'COUNTED', int(ofKey.wait), int(ofKey.most), 'key' } end
  end
  if redis.call('HSETNX', holdsRedisKey, id, record) == 0 then return { 'VOID' } end
  count(ofKey)
  count(ofAccount)
  beginHours(key)
  beginHours(account, true)
  if member then beginHours(member) end
  if hold > 0 then
    local slack = hold - estimate
    account.isMoved, account.held, account.slack = true, held + hold, account.slack + slack
    key.isMoved, key.held, key.slack = true, key.held + hold, key.slack + slack
    if member then member.isMoved, member.held, member.slack = true, member.held + hold, member.slack + slack end
  end
  if not tokens then return 1 end
  local take = isCounting and limits.enter or limits.take
  take(keyLimits, tokens)
  take(accountLimits, tokens)
  return { 'HELD', limits.states(keyLimits, accountLimits) }
end

local replies = each(admit, 3)
-- HSET cannot fail on a hash that was read. HINCRBY could, on the value of a field, after holds have been written.
for name, account in pairs(accounts) do
  if account.isMoved then redis.call('HSET', name, 'held', int(account.held), 'slack', int(account.slack)) end
end
for name, key in pairs(keys) do
  if key.isMoved then redis.call('HSET', name, 'held', int(key.held), 'slack', int(key.slack)) end
end
if limits then limits.write() end
return replies
