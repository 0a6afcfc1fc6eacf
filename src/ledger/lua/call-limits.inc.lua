-- Call limits (specification section 11) of keys and accounts, stored in the hashes that post.inc.lua describes. Requests
-- and tokens are token buckets (GCRA) that start full and refill evenly over a minute. A token bucket stores its debt, the
-- used part, in units × 60,000: it falls by the limit each millisecond, and every number is an exact integer (limits go up
-- to 1e11). Include int before it.
--
-- One function, called only when a script meets a limit, because each run defines a script's functions again.
-- now: ms since the epoch; nil: by the clock of this Redis.
local function callLimits(now)
  local UNIT = 60000
  local MAX_EXACT = 9007199254740991

  if not now then
    local time = redis.call('TIME')
    now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end

  -- Limits and their state by Redis key, false if there are none: each is read once, and written once by write().
  local all = {}

  -- since: version of the record that set the limit. Calls admitted by earlier versions took nothing from it.
  local function fullBucket(version)
    return { debt = 0, since = version }
  end

  -- Decodes a token bucket, refilled until now. If the clock was set back, nothing is refilled and the earlier time is
  -- stored.
  local function bucketIn(text, limit)
    local debt, at, since = string.match(text, '^(%d+) (%d+) (%d+)$')
    local elapsed = math.max(0, now - tonumber(at))
    return { debt = math.max(0, tonumber(debt) - limit * elapsed), since = tonumber(since) }
  end

  local function limitsIn(text)
    local requests, tokens, parallel = string.match(text, '^(%S+) (%S+) (%S+)$')
    return { text = text, rpm = tonumber(requests), tpm = tonumber(tokens), parallel = tonumber(parallel) }
  end

  -- The current limits in a hash; false if there are none.
  local function of(name)
    if all[name] == nil then
      local f = redis.call('HMGET', name, 'lim', 'open', 'rq', 'tk')
      local limits = f[1] and limitsIn(f[1])
      if limits then
        limits.requests = limits.rpm and bucketIn(f[3], limits.rpm)
        limits.tokens = limits.tpm and bucketIn(f[4], limits.tpm)
        limits.open = limits.parallel and tonumber(f[2])
      end
      all[name] = limits
    end
    return all[name]
  end

  local function hasPlace(limits)
    return not (limits and limits.parallel and limits.open >= limits.parallel)
  end

  local function hasRequest(limits)
    return not (limits and limits.rpm and limits.requests.debt > (limits.rpm - 1) * UNIT)
  end

  local function hasRoom(limits, tokens)
    if not limits then return true end
    local tpm = limits.tpm
    -- Subtract: the sum of the debt and the call's share may not be exact.
    return hasPlace(limits) and hasRequest(limits)
      and not (tpm and limits.tokens.debt > (tpm - math.min(tokens, tpm)) * UNIT)
  end

  -- Adds to a debt; the amount may be negative. A bucket's debt can exceed its capacity, but never falls below 0.
  local function add(bucket, debt)
    bucket.debt = math.min(MAX_EXACT, math.max(0, bucket.debt + debt))
  end

  local function enter(limits)
    if not limits then return end
    limits.isMoved = true
    if limits.parallel then limits.open = limits.open + 1 end
  end

  local function takeRequest(limits)
    if not (limits and limits.rpm) then return end
    limits.isMoved = true
    add(limits.requests, UNIT)
  end

  local function take(limits, tokens)
    if not limits then return end
    enter(limits)
    takeRequest(limits)
    if limits.tpm then add(limits.tokens, math.min(tokens, limits.tpm) * UNIT) end
  end

  -- Ends a call in the limits of one owner. version: of the record that admitted the call; requests and tokens: amounts
  -- to add to the debts of the token buckets that the call took from.
  local function close(limits, version, requests, tokens)
    if not limits then return end
    limits.isMoved = true
    if limits.parallel then limits.open = math.max(0, limits.open - 1) end
    if limits.rpm and limits.requests.since <= version then add(limits.requests, requests) end
    if limits.tpm and limits.tokens.since <= version then add(limits.tokens, tokens) end
  end

  -- Version for a hold without limits: below that of every token bucket, so that the call took from none.
  local NONE = -1

  -- Decodes the limits in a hold (hold-record.inc.lua): key version, tokens, account version, tokens.
  local function takenBy(hold)
    local version, tokens, accountVersion, ofAccount =
      string.match(hold, '^%d+ %d+ %d+ %d+ %d+ %d+ (%d+)/(%d+)/(%d+)/(%d+) ')
    return tonumber(version or NONE), tonumber(tokens or 0), tonumber(accountVersion or NONE), tonumber(ofAccount or 0)
  end

  -- Ends an open call. ofKey and ofAccount: tokens used beyond those taken from the key's and the account's limit
  -- (negative: fewer).
  local function release(accountName, keyName, hold, ofKey, ofAccount)
    local version, _, accountVersion = takenBy(hold)
    close(of(keyName), version, 0, ofKey * UNIT)
    close(of(accountName), accountVersion, 0, ofAccount * UNIT)
  end

  -- Ends an open call that did not run and returns everything it took.
  local function giveBack(accountName, keyName, hold)
    local version, tokens, accountVersion, ofAccount = takenBy(hold)
    local elapsed = math.max(0, now - tonumber(string.match(hold, '^%d+ %d+ %d+ %d+ (%d+)')))
    -- Units the call still holds: its share, less what the bucket has refilled since admission.
    local function taken(limit, units)
      return limit and math.max(0, units * UNIT - limit * elapsed) or 0
    end
    local function back(limits, since, ownTokens)
      if limits then close(limits, since, -taken(limits.rpm, 1), -taken(limits.tpm, ownTokens)) end
    end
    back(of(keyName), version, tokens)
    back(of(accountName), accountVersion, ofAccount)
  end

  local function store(name, limits)
    local fields = { 'lim', limits.text }
    local function field(key, value)
      fields[#fields + 1], fields[#fields + 2] = key, value
    end
    local function bucket(key, state)
      field(key, int(state.debt) .. ' ' .. int(now) .. ' ' .. int(state.since))
    end
    if limits.parallel then field('open', int(limits.open)) end
    if limits.rpm then bucket('rq', limits.requests) end
    if limits.tpm then bucket('tk', limits.tokens) end
    redis.call('HSET', name, unpack(fields))
  end

  local function write()
    for name, limits in pairs(all) do
      if limits and limits.isMoved then store(name, limits) end
    end
  end

  -- Applies the limits of a record; text: '' for none. A limit that existed keeps its used part, drained at the old
  -- rate until now; a new one is full, and `count` counts its calls in flight.
  local function put(name, text, version, count)
    local before = of(name)
    if before and before.text == text and (before.open or not before.parallel) then return end
    if before then redis.call('HDEL', name, 'lim', 'open', 'rq', 'tk') end
    all[name] = false
    if text == '' then return end
    local limits = limitsIn(text)
    limits.requests = limits.rpm and (before and before.requests or fullBucket(version))
    limits.tokens = limits.tpm and (before and before.tokens or fullBucket(version))
    limits.open = limits.parallel and (before and before.open or count())
    all[name] = limits
    store(name, limits)
  end

  -- '<requests a minute> <debt> <tokens a minute> <debt> <calls in flight> <open>', with '- -' for an absent limit.
  local function stateText(limits)
    local function pair(limit, state)
      return limit and int(limit) .. ' ' .. int(state) or '- -'
    end
    if not limits then return '- - - - - -' end
    return pair(limits.rpm, limits.requests and limits.requests.debt) .. ' '
      .. pair(limits.tpm, limits.tokens and limits.tokens.debt) .. ' ' .. pair(limits.parallel, limits.open)
  end

  -- The states of the key's limits, then the account's: six words each.
  local function states(keyLimits, accountLimits)
    return stateText(keyLimits) .. ' ' .. stateText(accountLimits)
  end

  return { of = of, hasPlace = hasPlace, hasRequest = hasRequest, hasRoom = hasRoom, enter = enter,
    takeRequest = takeRequest, take = take, release = release, giveBack = giveBack, put = put, write = write,
    states = states }
end
