-- Runs `script` for each call, with its `keyCount` names and its three arguments. The error of one call is its own
-- reply, {'ERROR', message}, and no other call's; what Redis refuses altogether, a write to a replica, say, each gets.
local function each(script, keyCount)
  local replies = {}
  for call = 0, #ARGV / 3 - 1 do
    local input = { unpack(KEYS, call * keyCount + 1, (call + 1) * keyCount) }
    for argument = 1, 3 do input[keyCount + argument] = ARGV[call * 3 + argument] end
    local isDone, reply = pcall(script, unpack(input))
    if not isDone then reply = { 'ERROR', type(reply) == 'table' and reply.err or tostring(reply) } end
    replies[call + 1] = reply
  end
  return replies
end
