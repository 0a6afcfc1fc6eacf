-- Restore keys: first half of a rebuild. From here until restore-account, the account's epoch differs from its keys',
-- so that every other script answers MISSING and nothing moves under the rebuild.
-- KEYS  1 account hash  2 holds hash  3… key hashes
-- ARGV  1 epoch  2 day  3 week  4 month (starts), then for each key: id, version, record JSON, spent in day, week, month
-- Reply 'RESTORED' | 'OLD' a later rebuild is under way
-- O(keys + holds of the bucket); only after a loss.
local epoch = redis.call('HGET', KEYS[1], 'ep')
if epoch and tonumber(epoch) >= tonumber(ARGV[1]) then return 'OLD' end
local held = {}
for _, hold in ipairs(redis.call('HVALS', KEYS[2])) do
  local amount, key = string.match(hold, '^(%d+) %d+ (%d+) ')
  if amount then held[key] = (held[key] or 0) + tonumber(amount) end
end
for i = 3, #KEYS do
  local at = 5 + (i - 3) * 6
  local version, record = ARGV[at + 1], ARGV[at + 2]
  local f = redis.call('HMGET', KEYS[i], 'v', 'rec', 'ep')
  if f[3] and tonumber(f[3]) > tonumber(ARGV[1]) then return 'OLD' end
  if f[1] and tonumber(f[1]) > tonumber(version) then version, record = f[1], f[2] end
  redis.call('HSET', KEYS[i], 'v', version, 'rec', record, 'ep', ARGV[1],
    'held', string.format('%.0f', held[ARGV[at]] or 0),
    'd', ARGV[2], 'ds', ARGV[at + 3], 'w', ARGV[3], 'ws', ARGV[at + 4], 'm', ARGV[4], 'ms', ARGV[at + 5])
end
return 'RESTORED'
