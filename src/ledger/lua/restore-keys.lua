-- Restore keys and members: second step of a rebuild. They go live once restore-account sets the account's epoch.
-- KEYS  1 account hash  2 holds hash  3… key and member hashes
-- ARGV  1 '<gateway>:<attempt>' as in begin-rebuild  2 epoch, then for each key: id, version, record JSON,
--       '<d> <ds> <w> <ws> <m> <ms> <h> <hs> <ts>' (windows, post.inc.lua), call limits as in the hash, or '';
--       for each member: '<account id>/<person id>', '', '', windows, ''
-- Reply 'RESTORED' | 'OLD' a later rebuild has begun
-- O(keys + members + holds of the bucket); only after a loss.
--- @include int
--- @include hold-record
--- @include hold-owners
--- @include call-limits
--- @include windows
if redis.call('HGET', KEYS[1], 'rb') ~= ARGV[1] then return 'OLD' end
local held, slack, open, limits = {}, {}, {}, callLimits()
for _, hold in ipairs(redis.call('HVALS', KEYS[2])) do
  for _, owner in ipairs({ (ownersOf(hold)), memberOf(hold) }) do
    local amount, beyond = amountsOf(hold)
    held[owner], slack[owner] = (held[owner] or 0) + amount, (slack[owner] or 0) + beyond
    open[owner] = (open[owner] or 0) + 1
  end
end
for i = 3, #KEYS do
  local at = 3 + (i - 3) * 5
  local version, record, lim = ARGV[at + 1], ARGV[at + 2], ARGV[at + 4]
  local f = redis.call('HMGET', KEYS[i], 'v', 'rec', 'lim')
  if f[1] and tonumber(f[1]) > tonumber(version) then version, record, lim = f[1], f[2], f[3] or '' end
  if lim ~= '' or f[3] then
    -- The holds determine how many calls are open.
    redis.call('HDEL', KEYS[i], 'open')
    limits.put(KEYS[i], lim, tonumber(version), function() return open[ARGV[at]] or 0 end)
  end
  if version ~= '' then redis.call('HSET', KEYS[i], 'v', version, 'rec', record) end
  redis.call('HSET', KEYS[i], 'ep', ARGV[2], 'held', int(held[ARGV[at]] or 0), 'slack', int(slack[ARGV[at]] or 0),
    unpack(windowFields(ARGV[at + 3])))
end
return 'RESTORED'
