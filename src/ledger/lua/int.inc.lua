-- The text of an amount as Redis stores it: tostring() loses digits from 1e14.
local function int(number)
  return string.format('%.0f', number)
end
