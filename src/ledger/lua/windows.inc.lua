-- Windows of the spending limits of an owner: a key, a member or an account (specification section 5). Include int before it.
-- A list of numbers: the start of day, week, month and five hours, each with what was spent in it, and what was spent ever.
-- A key or member has them in these fields of its hash; the last is absent where an earlier version made the hash.
local WINDOW_FIELDS = { 'd', 'ds', 'w', 'ws', 'm', 'ms', 'h', 'hs', 'ts' }
local START_OF = { d = 1, w = 3, m = 5 }
local HOURS, TOTAL = 7, 9
local FIVE_HOURS_MS = 18000000
-- Spending limits are lower, so larger sums need not be exact.
local MAX_SPENT = 9007199254740991

-- Decodes the windows in a reply of HMGET whose first window field is the `first`.
local function windowsIn(f, first)
  local windows = {}
  for i = 1, TOTAL do windows[i] = tonumber(f[first + i - 1]) end
  return windows
end

-- An account has them in one text, which takes half the time, after the seq up to which they are whole. The start of its
-- five hours has a field of its own, h, which admission moves. Nil: not whole, because an earlier version posts without them.
local function packedIn(text, h, seq)
  local windows, i = {}, -1
  for value in string.gmatch(text or '', '%S+') do
    i = i + 1
    windows[i] = tonumber(value)
  end
  if not h or windows[0] ~= tonumber(seq) then return nil end
  h = tonumber(h)
  if h > windows[HOURS] then windows[HOURS], windows[HOURS + 1] = h, 0 end
  return windows
end

local function packed(w, seq)
  return string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f', seq,
    w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9])
end

-- Appends to the arguments of HSET what differs between two states of windows.
local function writeWindows(arguments, before, after)
  local n = #arguments
  for i = 1, TOTAL do
    if before[i] ~= after[i] then
      arguments[n + 1], arguments[n + 2] = WINDOW_FIELDS[i], int(after[i])
      n = n + 2
    end
  end
end

-- Fields and values of a rebuild's text: the values in order.
local function windowFields(text)
  local fields, i = {}, 0
  for value in string.gmatch(text, '%S+') do
    i = i + 1
    fields[i * 2 - 1], fields[i * 2] = WINDOW_FIELDS[i], value
  end
  return fields
end

-- Micro-credits spent in a window: d, w, m, h or t. start: of the day, week or month now; now: ms since the epoch.
local function spentIn(windows, window, start, now)
  if window == 't' then return windows[TOTAL] end
  if window == 'h' then return now < windows[HOURS] + FIVE_HOURS_MS and windows[HOURS + 1] or 0 end
  local i = START_OF[window]
  return windows[i] >= start and windows[i + 1] or 0
end

-- A charge in the window at `i`, which `start` begins. Periods only move forward: a gateway with a slow clock books to
-- the period that another one has begun.
local function charge(before, after, i, start, amount)
  if start > before[i] then after[i], after[i + 1] = start, amount
  else after[i], after[i + 1] = before[i], math.min(before[i + 1] + amount, MAX_SPENT) end
end

-- A refund in the window at `i`, if its charge counted in it: refunding yesterday's charge makes no room for spending
-- today.
local function refund(before, after, i, start, amount)
  after[i], after[i + 1] = before[i], before[i] == start and before[i + 1] - amount or before[i + 1]
end

-- The windows after a charge, or after a refund (credits above 0). at: day, week, month (starts, days since the epoch), now
-- (ms) and admitted (ms; nil: with a window that admission began) of a charge; those of its charge for a refund. hour: start
-- of the five hours in which a refunded charge counted.
local function moved(before, credits, at, hour)
  -- 0 - x, because -x is "-0" of 0.
  local after, move, begun, amount = {}, charge, before[HOURS], 0 - credits
  if credits > 0 then
    move, amount = refund, credits
    -- Five hours that overlap are the same ones (domain/spending-limits.ts).
    if math.abs(hour - begun) >= FIVE_HOURS_MS then begun = hour end
  else
    -- Redis has lost the window that the call's admission began.
    if at.admitted and at.admitted >= begun + FIVE_HOURS_MS then begun = at.admitted end
    if at.now >= begun + FIVE_HOURS_MS then begun = at.now end
  end
  move(before, after, 1, at.day, amount)
  move(before, after, 3, at.week, amount)
  move(before, after, 5, at.month, amount)
  move(before, after, HOURS, begun, amount)
  after[TOTAL] = math.min(before[TOTAL] - credits, MAX_SPENT)
  return after
end
