-- The text of a hold: '<amount> <deadline ms> <key id> <account id> <created ms> <estimate> <category> <endpoint> <model>'.
-- If the call takes of limits a minute, a word follows the estimate:
-- '<key version>/<tokens of the key's limit>/<account version>/<tokens of the account's>', what it took by which records.

-- The amount of a hold, and its slack, by which the amount exceeds the estimate.
local function amountsOf(hold)
  local amount, estimate = string.match(hold, '^(%d+) %d+ %d+ %d+ %d+ (%d+) ')
  return tonumber(amount), amount - estimate
end
