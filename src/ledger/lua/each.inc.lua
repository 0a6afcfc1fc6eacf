-- Runs `script` for each call with its `keyCount` Redis keys, its three arguments, and its member hash. The member hash
-- is one more Redis key of a call whose second argument begins with 'm'; calls of other keys send none and pay for none.
-- The script may read trailing arguments itself. An error is the reply of its own call only, {'ERROR', message}. If Redis
-- refuses everything, such as a write to a replica, each call gets that error.
local MEMBER = string.byte('m')

local function each(script, keyCount)
  local replies, last = {}, 0
  for call = 0, math.floor(#ARGV / 3) - 1 do
    local input = { unpack(KEYS, last + 1, last + keyCount) }
    last = last + keyCount
    for argument = 1, 3 do input[keyCount + argument] = ARGV[call * 3 + argument] end
    if string.byte(input[keyCount + 2]) == MEMBER then
      last = last + 1
      input[keyCount + 4] = KEYS[last]
    end
    local isDone, reply = pcall(script, unpack(input))
    if not isDone then reply = { 'ERROR', type(reply) == 'table' and reply.err or tostring(reply) } end
    replies[call + 1] = reply
  end
  return replies
end
