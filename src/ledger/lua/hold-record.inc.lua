-- The text of a hold: '<amount> <deadline ms> <key id> <account id> <created ms> <estimate> <category> <endpoint> <model>'.
-- A person's key adds '<person id>p' before the category.
-- If the call takes from per-minute limits, a word with tokens and record versions follows the estimate:
-- '<key version>/<tokens of the key's limit>/<account version>/<tokens of the account's>'.

-- The amount of a hold, and its slack: amount minus estimate.
local function amountsOf(hold)
  local amount, estimate = string.match(hold, '^(%d+) %d+ %d+ %d+ %d+ (%d+) ')
  return tonumber(amount), amount - estimate
end
