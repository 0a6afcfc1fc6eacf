import { type Test, test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { accountRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { admissionOf, log, startLedger } from '../helper/start/ledger.ts';
import { REDIS_TIMEOUT_MS } from '../helper/start/redis-process.ts';

/** A rebuild of an emptied Redis that has read the book and not yet written to Redis, until `goOn`. */
async function startHalfway(t: Test) {
  const world = await startLedger(t);
  const { account, key } = await world.account({ threshold: 20 });
  await world.open.settled();
  const read = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const rebuilding = await openLedger({
    address: { kind: 'socket', path: world.redis.socketPath },
    book: {
      ...world.book,
      async snapshot(...of) {
        const found = await world.book.snapshot(...of);
        read.resolve();
        await go.promise;
        return found;
      },
    },
    log,
    requestTimeoutMs: 60_000,
    redisTimeoutMs: REDIS_TIMEOUT_MS,
    onAlerts() {},
  });
  t.teardown(() => rebuilding.close(1_000));
  await world.raw.flushall();
  const rebuilt = rebuilding.ledger.account(key.accountId);
  await read.promise;
  const goOn = async () => {
    go.resolve();
    await rebuilt;
  };
  return { ...world, account, key, goOn };
}

test('a key that is deleted while its account is rebuilt stays deleted', async (t) => {
  const { book, open, key, goOn } = await startHalfway(t);
  const deleted = await book.updateKey(key.accountId, key.id, { isActive: false }, Date.now());
  if (!deleted) return t.fail('no key');
  await open.ledger.publishKey(deleted);
  await goOn();
  t.same(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'stale' });
  t.match(await open.ledger.current(key.accountId, key.id), { key: { isActive: false } });
});

test('an account that is deactivated while it is rebuilt stays so, with its new threshold', async (t) => {
  const { book, open, account, key, goOn, raw } = await startHalfway(t);
  const change = { isActive: false, alertThreshold: micro(30_000_000) };
  const changed = await book.updateAccount(account.id, change, Date.now());
  if (!changed) return t.fail('no account');
  await open.ledger.publishAccount(changed);
  await goOn();
  t.match(await open.ledger.current(key.accountId, key.id), {
    accountActive: false,
    accountVersion: changed.version,
  });
  t.same(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'stale' });
  t.equal(await raw.hget(accountRedisKey(key.accountId), 'thr'), '30000000');
});

test('a key that is made while its account is rebuilt can be used', async (t) => {
  const { book, open, key, goOn } = await startHalfway(t);
  const { name: _name, ...settings } = key;
  const hash = 'f'.repeat(64);
  const made = await book.createKey(
    key.accountId,
    { ...settings, name: 'new', hash, prefix: 'sk-tg-0000' },
    Date.now(),
  );
  await open.ledger.publishKey(made, hash);
  await goOn();
  t.match(await open.ledger.find(hash), { key: { id: made.id } });
  t.match(await open.ledger.admit(admissionOf(made, 1)), { verdict: 'held' });
});
