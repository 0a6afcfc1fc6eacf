-- Key id and account id of a hold; nil for an idempotency marker.
local function ownersOf(hold)
  return string.match(hold, '^%d+ %d+ (%d+) (%d+) ')
end

-- The member of a hold, as '<account id>/<person id>'; nil: the key is the account's.
local function memberOf(hold)
  local account, person = string.match(hold, '^%d+ %d+ %d+ (%d+) [%d/ ]+ (%d+)p ')
  return account and account .. '/' .. person
end

-- Counts the open calls of a key (owner 1) or account (owner 2). O(holds of the bucket).
local function countHolds(holds, owner, id)
  local count = 0
  for _, hold in ipairs(redis.call('HVALS', holds)) do
    if select(owner, ownersOf(hold)) == id then count = count + 1 end
  end
  return count
end
