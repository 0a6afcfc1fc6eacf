-- Begin rebuild: closes the account for one gateway at a time, so that its live state does not change meanwhile.
-- KEYS  1 account hash  2… hashes of a key and a member that must be live too
-- ARGV  1 '<gateway>:<attempt>'  2 ms until another gateway may begin a rebuild
--       3 outdated epoch, or ''
-- Reply 'CLOSED' from here on every other script answers MISSING, until restore-account
--       | 'LIVE' nothing to rebuild (any more) | 'BUSY' another gateway is rebuilding it
-- O(1).
local f = redis.call('HMGET', KEYS[1], 'ep', 'rb', 'ru', 'seq', 'win')
-- An earlier version that posts beside this one leaves the windows of spending limits behind (windows.inc.lua).
local isWhole = f[1] and f[4] == string.match(f[5] or '', '^%S+')
for i = 2, #KEYS do
  local owner = redis.call('HMGET', KEYS[i], 'ep', 'ts')
  isWhole = isWhole and owner[1] == f[1] and owner[2]
end
if isWhole and (ARGV[3] == '' or tonumber(f[1]) > tonumber(ARGV[3])) then return 'LIVE' end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local isOurs = f[2] and string.match(f[2], '^[^:]+') == string.match(ARGV[1], '^[^:]+')
if f[2] and not isOurs and tonumber(f[3]) > now then return 'BUSY' end
redis.call('HDEL', KEYS[1], 'ep')
redis.call('HSET', KEYS[1], 'rb', ARGV[1], 'ru', string.format('%.0f', now + tonumber(ARGV[2])))
return 'CLOSED'
