import type { Redis } from 'ioredis';
import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { admissionOf, chargeOf, entriesOf, startLedger } from '../helper/start/ledger.ts';

/** Errors of a Redis that answers but accepts no writes, how to cause each, and how to end it. */
const REFUSALS: Record<
  string,
  { begin: (raw: Redis) => Promise<unknown>; end: (raw: Redis) => Promise<unknown> }
> = {
  READONLY: {
    begin: (raw) => raw.replicaof('127.0.0.1', 1),
    end: (raw) => raw.replicaof('NO', 'ONE'),
  },
  MASTERDOWN: {
    async begin(raw) {
      await raw.config('SET', 'replica-serve-stale-data', 'no');
      await raw.replicaof('127.0.0.1', 1);
    },
    end: (raw) => raw.replicaof('NO', 'ONE'),
  },
  NOREPLICAS: {
    begin: (raw) => raw.config('SET', 'min-replicas-to-write', '1'),
    end: (raw) => raw.config('SET', 'min-replicas-to-write', '0'),
  },
  BUSY: {
    async begin(raw) {
      await raw.config('SET', 'busy-reply-threshold', '1');
      const another = raw.duplicate();
      another.eval('while true do end', 0).catch(() => another.disconnect());
      await until('Redis to be busy', () =>
        raw.ping().then(
          () => false,
          (error: Error) => error.message.startsWith('BUSY'),
        ),
      );
    },
    end: (raw) => raw.script('KILL'),
  },
};

for (const [name, { begin, end }] of Object.entries(REFUSALS)) {
  test(`while Redis answers ${name}, calls are refused and settles kept; each is then made once`, async (t) => {
    const { open, account, book, raw } = await startLedger(t);
    const { key } = await account({ credits: 10 });
    const admissions = [1, 2, 3].map(() => admissionOf(key, 2));
    const held = await Promise.all(admissions.map((admission) => open.ledger.admit(admission)));
    t.same(new Set(held.map(({ verdict }) => verdict)), new Set(['held']));
    await open.settled();
    await begin(raw);
    const onWire = admissions.map(
      (admission) => new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, 1), resolve)),
    );
    const refused = await Promise.allSettled([1, 2].map(() => open.ledger.admit(admissionOf(key, 1))));
    t.match(refused, [
      { status: 'rejected', reason: { message: 'no answer to an admission' } },
      { status: 'rejected', reason: { message: 'no answer to an admission' } },
    ]);
    await Promise.all(onWire);
    t.equal(open.openSettlements(), 3);
    await end(raw);
    await open.settled();
    await until('the refused calls to be cancelled', async () => {
      await open.sweep.cancelUnanswered().catch(() => {});
      const found = await open.ledger.account(key.accountId).catch(() => undefined);
      return found?.held === 0;
    });
    t.match(await open.ledger.account(key.accountId), { balance: 7_000_000, held: 0 });
    t.same(
      (await entriesOf(book, key.accountId)).map(({ balanceAfter }) => balanceAfter),
      [10_000_000, 9_000_000, 8_000_000, 7_000_000],
    );
  });
}
