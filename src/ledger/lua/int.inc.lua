-- Formats an amount for Redis: tostring() loses digits from 1e14.
local function int(number)
  return string.format('%.0f', number)
end
