import { test } from 'tap';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import { callWith, changeAccount, changeKey, held } from '../helper/fixtures/call-limits.ts';
import { openLedgerOn } from '../helper/start/ledger.ts';
import { accountOn } from '../helper/start/ledger-account.ts';
import { startCluster } from '../helper/start/redis-cluster.ts';

test('on Redis Cluster limits of calls are taken, corrected, changed, counted and freed on every node', async (t) => {
  const { url, nodes } = await startCluster(t);
  const { book, open } = await openLedgerOn(t, parseRedisUrl(url));
  const limits = { rpmLimit: 3, tpmLimit: 100, maxParallelRequests: 3 };
  const accounts = await Promise.all(
    Array.from({ length: 9 }, () => accountOn(book, open.ledger, { key: limits })),
  );
  for (const { key, account } of accounts) {
    const owner = await changeAccount({ book, open }, account.id, { maxParallelRequests: 2 });
    const verdicts = await Promise.all(
      Array.from({ length: 8 }, () => open.ledger.admit(callWith(key, { owner }))),
    );
    t.equal(verdicts.filter(({ verdict }) => verdict === 'held').length, 2);
    t.equal(verdicts.filter(({ verdict }) => verdict === 'limited').length, 6);
    const raised = await changeAccount({ book, open }, account.id, { maxParallelRequests: 9, tpmLimit: 5 });
    const settle = await held(open, callWith(key, { owner: raised, tokens: 50 }));
    await settle({ key: 500, account: 500 });
    await open.settled();
    const { account: corrected } = await open.ledger.limitStates(account.id, key.id);
    t.ok(Number(corrected.tokens?.debt) > 400 * 60_000, 'the tokens beyond the estimate');
    const changed = await changeKey({ book, open }, key, { rpmLimit: 1_000 });
    const call = callWith(changed, { owner: raised, tokens: 0 });
    t.match(await open.ledger.admit(call), {
      verdict: 'limited',
      limits: { key: { parallel: { open: 2 } } },
    });
    await open.sweep.expireHolds(Date.now() + 24 * 3_600_000);
    await open.settled();
    t.match(await open.ledger.limitStates(account.id, key.id), {
      key: { requests: { limit: 1_000 }, tokens: { limit: 100 }, parallel: { limit: 3, open: 0 } },
      account: { parallel: { limit: 9, open: 0 } },
    });
  }
  for (const node of nodes) await (await node.connect()).flushall();
  for (const { key, account } of accounts) {
    t.match(await open.ledger.limitStates(account.id, key.id), {
      key: { requests: { limit: 1_000, debt: 0 }, tokens: { limit: 100, debt: 0 }, parallel: { open: 0 } },
      account: { requests: undefined, tokens: { limit: 5, debt: 0 }, parallel: { limit: 9, open: 0 } },
    });
  }
});
