-- Admit: version check, spending limit, balance, hold (contract section 3, checks 11 and 12).
-- KEYS  1 account hash  2 key hash  3 holds hash
-- ARGV  1 request id  2 key version  3 account version  4 hold (micro-credits)  5 limit or ''
--       6 period field (d|w|m)  7 period start (days since epoch)
--       8 hold record: '<amount> <deadline ms> <key id> <account id> <created ms> <category> <endpoint> <model>'
-- Reply {'HELD', epoch} | {'STALE'} | {'MISSING'} live state to be rebuilt | {'VOID'} cancelled before it came, or repeated
--       | {'LIMIT', spent, held} | {'FUNDS', balance, held}
-- O(1).
local a = redis.call('HMGET', KEYS[1], 'v', 'ep', 'bal', 'held')
local k = redis.call('HMGET', KEYS[2], 'v', 'ep', 'held', ARGV[6], ARGV[6] .. 's')
if not a[2] or k[2] ~= a[2] then return { 'MISSING' } end
if k[1] ~= ARGV[2] or a[1] ~= ARGV[3] then return { 'STALE' } end
local hold = tonumber(ARGV[4])
if ARGV[5] ~= '' then
  local spent = 0
  if tonumber(k[4]) >= tonumber(ARGV[7]) then spent = tonumber(k[5]) end
  if spent + tonumber(k[3]) + hold > tonumber(ARGV[5]) then
    return { 'LIMIT', string.format('%.0f', spent), k[3] }
  end
end
if tonumber(a[3]) - tonumber(a[4]) < hold then return { 'FUNDS', a[3], a[4] } end
if redis.call('HSETNX', KEYS[3], ARGV[1], ARGV[8]) == 0 then return { 'VOID' } end
redis.call('HINCRBY', KEYS[1], 'held', ARGV[4])
redis.call('HINCRBY', KEYS[2], 'held', ARGV[4])
return { 'HELD', a[2] }
