-- Moves a balance: included by every script that does so.
--
-- Account hash: v version, on 1|0, bal balance, held sum of holds, slack, seq entries so far, thr alert threshold, od overdraft,
-- ep epoch (absent during a rebuild, which then sets its owner rb and lease end ru).
-- Key hash: v version, rec record (JSON), ep epoch, held sum of holds, slack, d/w/m start day of the stored period
-- (days since 1970-01-01 UTC) with ds/ws/ms spent in it.
-- Either hash, once it counted tokens: cnt '<debt> <time>' (admit.lua).
-- Either hash, only with call limits (call-limits.inc.lua): lim '<requests a minute> <tokens a minute> <calls in flight>',
-- - for none; and the state of each limit: open calls in flight, rq and tk the token buckets of requests and tokens,
-- '<debt> <time of update, ms since epoch> <version of the record that set the limit>'.
-- slack: sum of hold - estimate of the open calls, so the sum of estimates is held - slack.
-- An earlier version left hashes without a newer field: a script treats such a field as absent, or replies MISSING.
-- Amounts are integer micro-credits below 2^53, exact as Lua doubles.

--- @include int

-- Doubles are exact integers up to ±2^53, and the book takes no entry beyond. Grants have a narrower bound
-- (lua/post-once.lua); charges and refunds are refused here, before any write.
local MAX_EXACT = 9007199254740991

local function fits(account, credits)
  return credits == 0 or math.abs(account.bal + credits) <= MAX_EXACT
end

-- Accounts and keys of this run, by Redis key, false if absent: each is read once, and written once by write() at the
-- end, however many entries it has.
local accounts, keys = {}, {}

local function readAccount(name)
  if accounts[name] == nil then
    local f = redis.call('HMGET', name, 'bal', 'held', 'seq', 'thr', 'ep', 'slack', 'lim')
    accounts[name] = f[5] and { bal = tonumber(f[1]), held = tonumber(f[2]), seq = tonumber(f[3]), thr = f[4], ep = f[5],
      slack = tonumber(f[6]), hasLimits = f[7] }
  end
  return accounts[name]
end

local function readKey(name)
  if keys[name] == nil then
    local f = redis.call('HMGET', name, 'ep', 'held', 'd', 'ds', 'w', 'ws', 'm', 'ms', 'slack', 'lim')
    keys[name] = f[1] and { ep = f[1], held = tonumber(f[2]), d = tonumber(f[3]), ds = tonumber(f[4]),
      w = tonumber(f[5]), ws = tonumber(f[6]), m = tonumber(f[7]), ms = tonumber(f[8]), slack = tonumber(f[9]),
      hasLimits = f[10] }
  end
  return keys[name]
end

local function write()
  for name, a in pairs(accounts) do
    if a and a.isMoved then
      redis.call('HSET', name, 'bal', int(a.bal), 'held', int(a.held), 'slack', int(a.slack), 'seq', int(a.seq))
    end
  end
  for name, k in pairs(keys) do
    if k and k.isMoved then
      redis.call('HSET', name, 'held', int(k.held), 'slack', int(k.slack),
        'd', int(k.d), 'ds', int(k.ds), 'w', int(k.w), 'ws', int(k.ws), 'm', int(k.m), 'ms', int(k.ms))
    end
  end
end

-- Periods only move forward: a gateway with a slow clock books to the period that another one has begun.
local function add(start, spent, now, amount)
  if now > start then return now, amount end
  -- Spending limits are lower, so larger sums need not be exact.
  return start, math.min(spent + amount, MAX_EXACT)
end

-- A refund counts only in periods that are still current: refunding yesterday's charge makes no room for spending
-- today.
local function takeBack(start, spent, charged, amount)
  if start == charged then return start, spent - amount end
  return start, spent
end

-- Moves the balance by `credits` (negative: a debit), subtracts `release` from the holds and `slack` (nil: 0) from
-- theirs, books the spend on the key (nil for top-ups; positive credits with a key are a refund, to the periods of its
-- charge), and appends "<seq> <balance after> <day booked> <epoch> <alert threshold> <entry JSON>" to the journal. Call
-- write() afterwards. Everything that can fail comes first, so that an error leaves account and key unchanged.
local function post(account, key, journal, credits, release, day, week, month, entry, slack)
  if not fits(account, credits) then error('a balance beyond 2^53 micro-credits') end
  local seq, after, held = account.seq + 1, account.bal + credits, account.held - release
  local keyHeld, d, ds, w, ws, m, ms
  if key then
    local isRefund = credits > 0
    local move, amount = add, -credits
    if isRefund then move, amount = takeBack, credits end
    keyHeld = key.held - release
    d, ds = move(key.d, key.ds, day, amount)
    w, ws = move(key.w, key.ws, week, amount)
    m, ms = move(key.m, key.ms, month, amount)
    if not isRefund then day = d end
  end
  redis.call('XADD', journal, '*', 'e',
    int(seq) .. ' ' .. int(after) .. ' ' .. int(day) .. ' ' .. account.ep .. ' ' .. account.thr .. ' ' .. entry)
  account.isMoved, account.bal, account.held, account.seq = true, after, held, seq
  account.slack = account.slack - (slack or 0)
  if key then
    key.isMoved, key.held, key.slack = true, keyHeld, key.slack - (slack or 0)
    key.d, key.ds, key.w, key.ws, key.m, key.ms = d, ds, w, ws, m, ms
  end
  return int(after)
end
