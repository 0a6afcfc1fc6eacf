-- Admit: version check, spending limit, balance, hold (contract section 3, checks 11 and 12).
-- KEYS  1 account hash  2 key hash  3 holds hash
-- ARGV  1 request id
--       2 '<key version> <account version> <hold (micro-credits)> <limit, or -> <period field d|w|m> <its start (days since epoch)>':
--         one argument, because each costs the gateway as much as reading all of these costs here
--       3 hold record: '<amount> <deadline ms> <key id> <account id> <created ms> <category> <endpoint> <model>'
-- Reply epoch (integer): it is held | {'STALE'} | {'MISSING'} live state to be rebuilt
--       | {'VOID'} cancelled before it came, or repeated | {'LIMIT', spent, held} | {'FUNDS', balance, held}
-- O(1).
local version, accountVersion, amount, limit, period, start =
  string.match(ARGV[2], '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
local a = redis.call('HMGET', KEYS[1], 'v', 'ep', 'bal', 'held')
local k = redis.call('HMGET', KEYS[2], 'v', 'ep', 'held', period, period .. 's')
if not a[2] or k[2] ~= a[2] then return { 'MISSING' } end
if k[1] ~= version or a[1] ~= accountVersion then return { 'STALE' } end
local hold = tonumber(amount)
if limit ~= '-' then
  local spent = 0
  if tonumber(k[4]) >= tonumber(start) then spent = tonumber(k[5]) end
  if spent + tonumber(k[3]) + hold > tonumber(limit) then
    return { 'LIMIT', string.format('%.0f', spent), k[3] }
  end
end
if tonumber(a[3]) - tonumber(a[4]) < hold then return { 'FUNDS', a[3], a[4] } end
if redis.call('HSETNX', KEYS[3], ARGV[1], ARGV[3]) == 0 then return { 'VOID' } end
redis.call('HINCRBY', KEYS[1], 'held', amount)
redis.call('HINCRBY', KEYS[2], 'held', amount)
return tonumber(a[2])
