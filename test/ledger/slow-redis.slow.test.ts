import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { admissionOf, openLedgerOn } from '../helper/start/ledger.ts';
import { accountOn } from '../helper/start/ledger-account.ts';
import { startRedis } from '../helper/start/redis-process.ts';
import { startTcpProxy } from '../helper/start/tcp-proxy.ts';

const WAITING = 20;
/**
 * A second more than a call waits, and a second less than its connection may be silent; a busy machine may add that
 * much to either.
 */
const WAY_MS = 4_500;
const TIMEOUT_MS = 8_000;

test('calls that waited in vain count as waiting until Redis has answered them', async (t) => {
  const redis = await startRedis(t);
  const proxy = await startTcpProxy(t, redis.port);
  const { book, open } = await openLedgerOn(
    t,
    { kind: 'single', url: `redis://127.0.0.1:${proxy.port}` },
    { bounds: { waitingCalls: WAITING, journalEntries: 1_000 }, redisTimeoutMs: TIMEOUT_MS },
  );
  const { key } = await accountOn(book, open.ledger, { credits: 1_000 });
  const admit = () => open.ledger.admit(admissionOf(key, 1));
  t.match(await admit(), { verdict: 'held' });
  // Replies come after the gateway gave up their calls, and before it gives up the connection.
  proxy.delay(WAY_MS);
  const answers = await Promise.allSettled(Array.from({ length: WAITING }, admit));
  t.same(
    new Set(answers.map((answer) => answer.status === 'rejected' && answer.reason.message)),
    new Set(['no answer to an admission']),
  );
  await t.rejects(admit(), { message: 'too many calls wait for redis' });
  proxy.delay(0);
  await until('calls to be admitted again', () => admit().catch(() => undefined));
  const account = await until('the holds of those given up to be released', async () => {
    await open.sweep.cancelUnanswered().catch(() => {});
    const found = await open.ledger.account(key.accountId).catch(() => undefined);
    return found?.held === 2_000_000 && found;
  });
  t.match(account, { balance: 1_000_000_000 });
});
