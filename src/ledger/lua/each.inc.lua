-- Runs `script` for each call with its `keyCount` Redis keys and three arguments; it may read trailing arguments
-- itself. An error is the reply of its own call only, {'ERROR', message}. If Redis refuses everything, such as a write
-- to a replica, each call gets that error.
local function each(script, keyCount)
  local replies = {}
  for call = 0, math.floor(#ARGV / 3) - 1 do
    local input = { unpack(KEYS, call * keyCount + 1, (call + 1) * keyCount) }
    for argument = 1, 3 do input[keyCount + argument] = ARGV[call * 3 + argument] end
    local isDone, reply = pcall(script, unpack(input))
    if not isDone then reply = { 'ERROR', type(reply) == 'table' and reply.err or tostring(reply) } end
    replies[call + 1] = reply
  end
  return replies
end
