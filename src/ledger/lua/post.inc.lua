-- Moves a balance: included by every script that does so.
--
-- Account hash: v version, on 1|0, bal balance, held sum of holds, slack, seq entries so far, thr alert threshold, od overdraft,
-- sl spending limits (JSON), ep epoch (absent during a rebuild, which then sets its owner rb and lease end ru).
-- Key hash: v version, rec record (JSON), ep epoch, held sum of holds, slack.
-- Member hash, of a person with keys in the account: ep, held and slack of all these keys.
-- Windows of spending limits (windows.inc.lua) in the key and the member hash: d/w/m start day of the stored period (days
-- since 1970-01-01 UTC) with ds/ws/ms spent in it, h start of the last five hours (ms since the epoch) with hs, and ts
-- spent ever. In the account hash: h, and win '<seq> <d> <ds> <w> <ws> <m> <ms> <h> <hs> <ts>'.
-- Either hash, once it counted tokens: cnt '<debt> <time>' (admit.lua).
-- Either hash, only with call limits (call-limits.inc.lua): lim '<requests a minute> <tokens a minute> <calls in flight>',
-- - for none; and the state of each limit: open calls in flight, rq and tk the token buckets of requests and tokens,
-- '<debt> <time of update, ms since epoch> <version of the record that set the limit>'.
-- slack: sum of hold - estimate of the open calls, so the sum of estimates is held - slack.
-- An earlier version left hashes without a newer field: a script treats such a field as absent, or replies MISSING.
-- Amounts are integer micro-credits below 2^53, exact as Lua doubles.

--- @include int
--- @include windows

-- Doubles are exact integers up to ±2^53, and the book takes no entry beyond. Grants have a narrower bound
-- (lua/post-once.lua); charges and refunds are refused here, before any write.
local MAX_EXACT = 9007199254740991

local function fits(account, credits)
  return credits == 0 or math.abs(account.bal + credits) <= MAX_EXACT
end

-- Accounts, and keys and members, of this run, by Redis key, false if absent: each is read once, and written once by
-- write() at the end, however many entries it has.
local accounts, keys = {}, {}

local function readAccount(name)
  if accounts[name] == nil then
    local f = redis.call('HMGET', name, 'bal', 'held', 'seq', 'thr', 'ep', 'slack', 'lim', 'win', 'h')
    local windows = packedIn(f[8], f[9], f[3])
    accounts[name] = f[5] and windows and { bal = tonumber(f[1]), held = tonumber(f[2]), seq = tonumber(f[3]),
      thr = f[4], ep = f[5], slack = tonumber(f[6]), hasLimits = f[7], windows = windows, h = windows[HOURS] }
  end
  return accounts[name]
end

local function readKey(name)
  if keys[name] == nil then
    local f = redis.call('HMGET', name, 'ep', 'held', 'slack', 'lim', unpack(WINDOW_FIELDS))
    keys[name] = f[1] and f[#f] and { ep = f[1], held = tonumber(f[2]), slack = tonumber(f[3]), hasLimits = f[4],
      windows = windowsIn(f, 5) }
    if keys[name] then keys[name].windowsBefore = keys[name].windows end
  end
  return keys[name]
end

-- Account, key and member (nil: the key is the account's); nil if one of them is not live.
local function readLive(accountName, keyName, memberName)
  local account, key, member = readAccount(accountName), readKey(keyName), memberName and readKey(memberName)
  if not account or not key or key.ep ~= account.ep then return nil end
  if memberName and not (member and member.ep == account.ep) then return nil end
  return account, key, member
end

local function write()
  for name, a in pairs(accounts) do
    if a and a.isMoved then
      redis.call('HSET', name, 'bal', int(a.bal), 'held', int(a.held), 'slack', int(a.slack), 'seq', int(a.seq),
        'win', packed(a.windows, a.seq))
      if a.windows[HOURS] ~= a.h then redis.call('HSET', name, 'h', int(a.windows[HOURS])) end
    end
  end
  for name, k in pairs(keys) do
    if k and k.isMoved then
      local arguments = { name, 'held', int(k.held), 'slack', int(k.slack) }
      writeWindows(arguments, k.windowsBefore, k.windows)
      redis.call('HSET', unpack(arguments))
    end
  end
end

local function moveKey(key, windows, release, slack)
  key.isMoved, key.held, key.slack, key.windows = true, key.held - release, key.slack - (slack or 0), windows
end

-- Moves the balance by `credits` (negative: a debit), subtracts `release` from the holds and `slack` (nil: 0) from
-- theirs, books the spend in the windows of key, member and account (key nil: a top-up, in none; positive credits with a
-- key are a refund, in those of its charge: windows.inc.lua), and appends "<seq> <balance after> <day booked> <epoch>
-- <alert threshold> <start of the key's five hours> <start of the account's> <entry JSON>" to the journal, with the start
-- of the member's before the JSON if there is one. Call write() afterwards. Everything that can fail comes first, so that
-- an error leaves account, key and member unchanged.
local function post(account, key, journal, credits, release, at, entry, slack, member)
  if not fits(account, credits) then error('a balance beyond 2^53 micro-credits') end
  local seq, after, held = account.seq + 1, account.bal + credits, account.held - release
  local day, ofKey, ofAccount, ofMember = at.day, account.windows, account.windows, nil
  if key then
    if credits <= 0 then
      -- Key, account and book count it on the same day, also if another key has begun a later one.
      at.day, at.week, at.month = math.max(at.day, ofAccount[1]), math.max(at.week, ofAccount[3]), math.max(at.month, ofAccount[5])
    end
    ofKey, ofAccount = moved(key.windows, credits, at, at.hour), moved(account.windows, credits, at, at.accountHour)
    ofMember = member and moved(member.windows, credits, at, at.memberHour)
    if credits <= 0 then day = ofKey[1] end
  end
  redis.call('XADD', journal, '*', 'e', int(seq) .. ' ' .. int(after) .. ' ' .. int(day) .. ' ' .. account.ep .. ' '
    .. account.thr .. ' ' .. int(at.hour or ofKey[HOURS]) .. ' ' .. int(at.accountHour or ofAccount[HOURS]) .. ' '
    .. (ofMember and int(at.memberHour or ofMember[HOURS]) .. ' ' or '') .. entry)
  account.isMoved, account.bal, account.held, account.seq = true, after, held, seq
  account.slack = account.slack - (slack or 0)
  if key then
    moveKey(key, ofKey, release, slack)
    account.windows = ofAccount
  end
  if member then moveKey(member, ofMember, release, slack) end
  return int(after)
end
