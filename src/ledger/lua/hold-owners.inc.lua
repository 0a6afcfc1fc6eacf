-- Key id and account id of a hold; nothing for an idempotency marker.
local function ownersOf(hold)
  return string.match(hold, '^%d+ %d+ (%d+) (%d+) ')
end

-- How many open calls a key (owner 1) or an account (owner 2) has. O(holds of the bucket).
local function countHolds(holds, owner, id)
  local count = 0
  for _, hold in ipairs(redis.call('HVALS', holds)) do
    if select(owner, ownersOf(hold)) == id then count = count + 1 end
  end
  return count
end
