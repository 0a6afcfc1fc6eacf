import { test } from 'tap';
import type { RefusalBatch } from '../../../src/book/refusals.ts';
import type { RefusedCall } from '../../../src/domain/refused-call.ts';
import { RefusalWriter } from '../../../src/gateway/record/refusal-writer.ts';
import { FairPool } from '../../../src/shares/fair-pool.ts';
import { WAITING_REFUSALS } from '../../../src/shares/pools.ts';
import { NOW, refusedCall } from '../../helper/fixtures/book-records.ts';

const MINUTE_MS = 60_000;
const MOST_WAITING = WAITING_REFUSALS.all;
const LOG = { debug() {}, info() {}, warn() {}, error() {} };

/** A writer whose batches are collected, in place of a book that is unreachable or slow. */
function writerOf({
  fails = () => false,
  now = () => NOW,
}: {
  fails?: () => boolean;
  now?: () => number;
} = {}) {
  const batches: RefusalBatch[] = [];
  const writer = new RefusalWriter({
    book: {
      async recordRefusals(batch) {
        if (fails()) throw new Error('the book is away');
        batches.push(batch);
      },
      forgetRecords: async () => {},
    },
    log: LOG,
    settings: { refusalsPerMinute: 20, refusalDays: 30, refusalRows: 1_000_000 },
    places: new FairPool({ places: WAITING_REFUSALS }),
    now,
  });
  return { writer, batches };
}

const sum = (batches: readonly RefusalBatch[]) =>
  batches.flatMap(({ counts }) => counts).reduce((all, { count }) => all + count, 0);

test('a flood of one key takes twenty records, and one after the minute', async (t) => {
  let now = NOW;
  const { writer, batches } = writerOf({ now: () => now });
  for (let call = 0; call < 5_000; call++) writer.note(refusedCall(1, 1));
  await writer.write();
  t.equal(batches.flatMap(({ calls }) => calls).length, 20);
  t.same(
    batches.flatMap(({ repeated }) => repeated),
    [],
    'the minute is not over',
  );
  t.equal(sum(batches), 5_000);
  now += MINUTE_MS;
  await writer.write();
  const [rest, ...others] = batches.flatMap(({ repeated }) => repeated);
  t.equal(rest?.repeated, 4_980);
  t.same(others, []);
  await writer.write();
  t.equal(batches.flatMap(({ repeated }) => repeated).length, 1, 'once');
});

test('while the book is away calls wait, up to a bound; more are dropped and counted', async (t) => {
  let isAway = true;
  const { writer, batches } = writerOf({ fails: () => isAway });
  for (let id = 1; id <= MOST_WAITING + 5; id++) writer.note(refusedCall(id, id));
  t.equal(writer.waiting, MOST_WAITING);
  t.equal(writer.dropped, 5);
  await t.rejects(writer.write(), { message: 'the book is away' });
  t.equal(writer.waiting, MOST_WAITING);
  isAway = false;
  await writer.write();
  t.equal(writer.waiting, 0);
  t.equal(batches.flatMap(({ calls }) => calls).length, MOST_WAITING);
  t.ok(
    batches.every(({ calls }) => calls.length <= 500),
    'in small transactions',
  );
  t.equal(sum(batches), MOST_WAITING);
});

test('an account with thousands of refused keys leaves room for the calls of others', (t) => {
  const { writer } = writerOf();
  for (let keyId = 1; keyId <= MOST_WAITING; keyId++) writer.note(refusedCall(1, keyId));
  t.equal(writer.waiting, WAITING_REFUSALS.ofOne);
  writer.note(refusedCall(2, MOST_WAITING + 1));
  t.equal(writer.waiting, WAITING_REFUSALS.ofOne + 1);
  t.end();
});

test('a stop writes waiting refusals, those of the current minute too', async (t) => {
  const { writer, batches } = writerOf();
  writer.start();
  const calls: RefusedCall[] = Array.from({ length: 25 }, () => refusedCall(1, 1));
  for (const call of calls) writer.note(call);
  await writer.stop();
  t.same(
    batches.flatMap((batch) => batch.calls),
    calls.slice(0, 20),
  );
  t.match(
    batches.flatMap(({ repeated }) => repeated),
    [{ first: calls[20], repeated: 5 }],
  );
});

test('a minute that ends while the book is away keeps its number', async (t) => {
  let now = NOW;
  let isAway = false;
  const { writer, batches } = writerOf({ fails: () => isAway, now: () => now });
  for (let call = 0; call < 30; call++) writer.note(refusedCall(1, 1));
  await writer.write();
  now += MINUTE_MS;
  isAway = true;
  await t.rejects(writer.write());
  writer.note(refusedCall(1, 1));
  isAway = false;
  await writer.write();
  t.match(
    batches.flatMap(({ repeated }) => repeated),
    [{ repeated: 11 }],
  );
  t.equal(sum(batches), 31);
});
