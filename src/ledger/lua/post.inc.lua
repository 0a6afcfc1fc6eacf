-- Shared by every script that moves a balance; included by the loader, never run alone.
--
-- Account hash: v version, on 1|0, bal balance, held Σ of holds, seq entries so far, thr alert threshold, ep epoch (none
-- while it is rebuilt: then rb says by whom and ru until when others wait).
-- Key hash: v version, rec record (JSON), ep epoch, held Σ of holds, d/w/m start day of the stored period
-- (days since 1970-01-01 UTC) with ds/ws/ms spent in it.
-- Amounts are integer micro-credits below 2^53, exact as Lua doubles; they are formatted by int(), because
-- tostring() loses digits from 1e14.

local function int(number)
  return string.format('%.0f', number)
end

local function readAccount(name)
  local f = redis.call('HMGET', name, 'bal', 'held', 'seq', 'thr', 'ep')
  if not f[5] then return nil end
  return { name = name, bal = tonumber(f[1]), held = tonumber(f[2]), seq = tonumber(f[3]), thr = tonumber(f[4]), ep = f[5] }
end

local function readKey(name)
  local f = redis.call('HMGET', name, 'ep', 'held', 'd', 'ds', 'w', 'ws', 'm', 'ms')
  if not f[1] then return nil end
  return { name = name, ep = f[1], held = tonumber(f[2]),
    d = tonumber(f[3]), ds = tonumber(f[4]), w = tonumber(f[5]), ws = tonumber(f[6]), m = tonumber(f[7]), ms = tonumber(f[8]) }
end

-- Periods only move forward: a gateway whose clock is behind books on the period that has begun elsewhere.
local function add(start, spent, now, amount)
  if now > start then return now, amount end
  return start, spent + amount
end

-- What is given back to a key is taken off the periods in which it was charged, where they are still the current ones:
-- yesterday's charge does not make room for more spending today.
local function takeBack(start, spent, charged, amount)
  if start == charged then return start, spent - amount end
  return start, spent
end

-- Moves the balance by `credits` (negative: a debit), takes `release` off the holds, books the spend on the key
-- (key may be nil: top-ups; credits above 0 with a key are a refund, and the periods those of its charge), and appends the entry to the journal as
-- "<seq> <balance after> <day booked> <epoch> <crossing 1|0> <entry JSON>".
local function post(account, key, journal, credits, release, day, week, month, entry)
  local after = account.bal + credits
  local seq = account.seq + 1
  redis.call('HSET', account.name, 'bal', int(after), 'held', int(account.held - release), 'seq', int(seq))
  if key then
    local isRefund = credits > 0
    local move, amount = add, -credits
    if isRefund then move, amount = takeBack, credits end
    local d, ds = move(key.d, key.ds, day, amount)
    local w, ws = move(key.w, key.ws, week, amount)
    local m, ms = move(key.m, key.ms, month, amount)
    redis.call('HSET', key.name, 'held', int(key.held - release),
      'd', int(d), 'ds', int(ds), 'w', int(w), 'ws', int(ws), 'm', int(m), 'ms', int(ms))
    if not isRefund then day = d end
  end
  local crossing = (credits < 0 and account.bal >= account.thr and after < account.thr) and '1' or '0'
  redis.call('XADD', journal, '*', 'e',
    int(seq) .. ' ' .. int(after) .. ' ' .. int(day) .. ' ' .. account.ep .. ' ' .. crossing .. ' ' .. entry)
  return int(after)
end
