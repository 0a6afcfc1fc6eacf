import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'tap';
import { micro } from '../../../src/domain/credits.ts';
import type { EntryDraft } from '../../../src/domain/ledger-entry.ts';
import { periodStarts } from '../../../src/domain/period.ts';
import { ReplayBuffer } from '../../../src/ledger/calls/replay-buffer.ts';

const NOW = 1_000_000;

function settleAt(settledAt: number, createdAt = 0) {
  const draft: EntryDraft = {
    id: `charge-${settledAt}`,
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
  return { draft, starts: periodStarts(createdAt), now: createdAt, settledAt };
}

test('the settles of the last five seconds are remembered, oldest first', async (t) => {
  const buffer = new ReplayBuffer();
  for (let n = 0; n < 200; n++) buffer.add(7, settleAt(NOW + n * 100));
  const times = buffer.entries(7).map(({ settledAt }) => settledAt);
  t.same(
    times,
    Array.from({ length: 51 }, (_, n) => NOW + 14_900 + n * 100),
  );
  t.same(buffer.entries(8), []);
});

test('a settle is remembered from when it was answered, even minutes after its call ended', async (t) => {
  const buffer = new ReplayBuffer();
  buffer.add(5, settleAt(NOW, NOW - 600_000));
  buffer.add(5, settleAt(NOW + 1_000, NOW + 1_000));
  t.equal(buffer.entries(5).length, 2);
});

test('a bucket without new settles keeps its entries', async (t) => {
  const buffer = new ReplayBuffer();
  buffer.add(1, settleAt(NOW));
  for (let n = 0; n < 200; n++) buffer.add(2, settleAt(NOW + n * 1_000));
  t.same(
    buffer.entries(1).map(({ settledAt }) => settledAt),
    [NOW],
  );
});

test('entries of a bucket in doubt stay until they were looked up', async (t) => {
  const buffer = new ReplayBuffer();
  const times = () => buffer.entries(4).map(({ settledAt }) => settledAt);
  buffer.add(4, settleAt(NOW));
  buffer.pin(4);
  const first = buffer.generation(4);
  buffer.add(4, settleAt(NOW + 60_000));
  buffer.pin(4);
  buffer.add(4, settleAt(NOW + 120_000));
  t.same(times(), [NOW, NOW + 60_000, NOW + 120_000]);
  // One that began before the bucket was in doubt again.
  buffer.unpin(4, first);
  buffer.add(4, settleAt(NOW + 180_000));
  t.same(times(), [NOW, NOW + 60_000, NOW + 180_000]);
  buffer.unpin(4, buffer.generation(4));
  buffer.add(4, settleAt(NOW + 181_000));
  t.same(times(), [NOW + 180_000, NOW + 181_000]);
});

test('forgotten settles can be collected, few as there are of them in a bucket', async (t) => {
  const buffer = new ReplayBuffer();
  const first = new WeakRef(settleAt(NOW));
  buffer.add(3, first.deref() ?? settleAt(NOW));
  for (let n = 1; n < 100; n++) buffer.add(3, settleAt(NOW + n * 1_000));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  // A reference that was read is kept until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  t.equal(first.deref(), undefined);
  t.equal(buffer.entries(3).length, 6);
});
