-- The text of a hold: '<amount> <deadline ms> <key id> <account id> <created ms> <estimate> <category> <endpoint> <model>'.
-- Where the call is subject to limits of calls, a word follows the estimate:
-- '<key version>/<tokens of the key's limit>/<account version>/<tokens of the account's>', what it took by which records.

-- What a hold takes: its amount, and its slack, which is how much more that is than the estimate. A record of version 0.1.0
-- has no estimate: its calls were admitted by their holds alone, so its slack is 0.
local function amountsOf(hold)
  local amount = tonumber(string.match(hold, '^%d+'))
  local estimate = tonumber(string.match(hold, '^%d+ %d+ %d+ %d+ %d+ (%d+) '))
  return amount, estimate and amount - estimate or 0
end
