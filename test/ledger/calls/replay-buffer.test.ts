import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'tap';
import { micro } from '../../../src/domain/credits.ts';
import type { EntryDraft } from '../../../src/domain/ledger-entry.ts';
import { RecentSettles } from '../../../src/ledger/calls/replay-buffer.ts';

const NOW = Date.parse('2026-11-18T12:00:00Z');

function settleAt(createdAt: number, id = `charge-${createdAt}`) {
  const draft: EntryDraft = {
    id,
    type: 'charge',
    accountId: 1,
    keyId: 1,
    createdAt,
    model: 'demo-text',
    category: 'text',
    endpoint: '/v1/chat/completions',
    status: 200,
    outcome: 'complete',
    usage: { input: 10, output: 20 },
    estimated: false,
    credits: micro(-1),
  };
  return { epoch: 1, draft };
}

test('the settles of the last five seconds are remembered, oldest first', async (t) => {
  const recent = new RecentSettles();
  for (let n = 0; n < 200; n++) recent.add(7, settleAt(NOW + n * 100));
  const times = recent.of(7).map(({ draft }) => draft.createdAt);
  t.same(
    times,
    Array.from({ length: 51 }, (_, n) => NOW + 14_900 + n * 100),
  );
  t.same(recent.of(8), []);
});

test('a bucket in which nothing more is settled keeps what it has', async (t) => {
  const recent = new RecentSettles();
  recent.add(1, settleAt(NOW));
  for (let n = 0; n < 200; n++) recent.add(2, settleAt(NOW + n * 1_000));
  t.same(
    recent.of(1).map(({ draft }) => draft.createdAt),
    [NOW],
  );
});

test('what a bucket had when its node came into doubt stays until it has been looked for', async (t) => {
  const recent = new RecentSettles();
  const times = () => recent.of(4).map(({ draft }) => draft.createdAt);
  recent.add(4, settleAt(NOW));
  recent.keep(4);
  const first = recent.keeps(4);
  recent.add(4, settleAt(NOW + 60_000));
  recent.keep(4);
  recent.add(4, settleAt(NOW + 120_000));
  t.same(times(), [NOW, NOW + 60_000, NOW + 120_000]);
  // One that began before the bucket came into doubt again.
  recent.checked(4, first);
  recent.add(4, settleAt(NOW + 180_000));
  t.same(times(), [NOW, NOW + 60_000, NOW + 180_000]);
  recent.checked(4, recent.keeps(4));
  recent.add(4, settleAt(NOW + 181_000));
  t.same(times(), [NOW + 180_000, NOW + 181_000]);
});

test('forgotten settles can be collected, few as there are of them in a bucket', async (t) => {
  const recent = new RecentSettles();
  const first = new WeakRef(settleAt(NOW));
  recent.add(3, first.deref() ?? settleAt(NOW));
  for (let n = 1; n < 100; n++) recent.add(3, settleAt(NOW + n * 1_000));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  // A reference is kept until the end of the turn in which it was looked at.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  t.equal(first.deref(), undefined);
  t.equal(recent.of(3).length, 6);
});
