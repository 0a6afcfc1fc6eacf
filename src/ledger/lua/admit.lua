-- Admit: version check, spending limit, balance, hold (specification section 3, checks 11 and 12), for several calls,
-- one after the other.
-- KEYS  of each call: account hash, key hash, holds hash
-- ARGV  of each call: request id;
--       '<key version> <account version> <hold (micro-credits)> <limit, or -> <period field d|w|m> <its start (days since epoch)>':
--         one argument, because an argument costs the gateway as much as splitting this text costs here;
--       hold record: '<amount> <deadline ms> <key id> <account id> <created ms> <category> <endpoint> <model>'
--       and after all calls: until when they may be admitted (ms since epoch, by the clock of this Redis)
-- Reply of each call: epoch (integer): the credits are held | {'STALE'} | {'MISSING'} live state to be rebuilt
--       | {'LATE'} it was given up meanwhile | {'VOID'} repeated | {'LIMIT', spent, held} | {'FUNDS', balance, held}
--       | {'ERROR', message}
-- O(1) for each call.
--- @include int
--- @include each

local time = redis.call('TIME')
local isLate = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) > tonumber(ARGV[#ARGV])

-- Accounts and keys of this run, by Redis key: each is read once and its holds are written once, however many calls it has.
local accounts, keys = {}, {}

local function readAccount(name)
  if not accounts[name] then
    local f = redis.call('HMGET', name, 'v', 'ep', 'bal', 'held')
    accounts[name] = { v = f[1], ep = f[2], bal = f[3], held = tonumber(f[4]), added = 0 }
  end
  return accounts[name]
end

local function readKey(name)
  if not keys[name] then
    local f = redis.call('HMGET', name, 'v', 'ep', 'held', 'd', 'ds', 'w', 'ws', 'm', 'ms')
    keys[name] = { v = f[1], ep = f[2], held = tonumber(f[3]), added = 0,
      d = f[4], ds = f[5], w = f[6], ws = f[7], m = f[8], ms = f[9] }
  end
  return keys[name]
end

local function admit(accountName, keyName, holdsRedisKey, id, numbers, record)
  if isLate then return { 'LATE' } end
  local version, accountVersion, amount, limit, period, start =
    string.match(numbers, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  local account, key = readAccount(accountName), readKey(keyName)
  local epoch = tonumber(account.ep)
  if not epoch or key.ep ~= account.ep then return { 'MISSING' } end
  if key.v ~= version or account.v ~= accountVersion then return { 'STALE' } end
  local hold = tonumber(amount)
  local held, keyHeld = account.held + account.added, key.held + key.added
  if limit ~= '-' then
    local spent = 0
    if tonumber(key[period]) >= tonumber(start) then spent = tonumber(key[period .. 's']) end
    if spent + keyHeld + hold > tonumber(limit) then return { 'LIMIT', int(spent), int(keyHeld) } end
  end
  if tonumber(account.bal) - held < hold then return { 'FUNDS', account.bal, int(held) } end
  if redis.call('HSETNX', holdsRedisKey, id, record) == 0 then return { 'VOID' } end
  account.added, key.added = account.added + hold, key.added + hold
  return epoch
end

local replies = each(admit, 3)
-- HSET cannot fail on a hash that was read; HINCRBY could fail on a field's value, after the holds have been written.
for name, account in pairs(accounts) do
  if account.added > 0 then redis.call('HSET', name, 'held', int(account.held + account.added)) end
end
for name, key in pairs(keys) do
  if key.added > 0 then redis.call('HSET', name, 'held', int(key.held + key.added)) end
end
return replies
