import type { Book } from '../../src/book/book.ts';
import { COMMAND_LINE } from '../../src/domain/actor.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';
import type { RefusedCall } from '../../src/domain/refused-call.ts';
import { ROLES } from '../../src/domain/roles.ts';
import { entries, NOW, newKey, refusedCall, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Records calls that reached a provider and refused calls of an account. */
async function record(
  book: Book,
  accountId: number,
  charged: readonly Partial<JournalEntry>[],
  refused: readonly (Partial<RefusedCall> & { keyId: number; times?: number })[] = [],
): Promise<void> {
  await book.post(entries(accountId, charged));
  const calls = refused.map(({ times = 1, ...call }) => ({
    first: { ...refusedCall(accountId, call.keyId), ...call },
    repeated: times,
  }));
  const own = calls.filter(({ repeated }) => repeated === 1).map(({ first }) => first);
  const repeated = calls.filter(({ repeated }) => repeated > 1);
  await book.recordRefusals({ calls: own, repeated, counts: [] }, 20);
}

eachBook('a summary counts calls by result and by each field', async (t, book) => {
  const { account, key } = await stored(book);
  const other = await book.createKey(account.id, newKey({ name: 'other' }), NOW);
  const failed = { outcome: 'upstream_error', code: 'overloaded', keyId: key.id, status: 529 } as const;
  await record(
    book,
    account.id,
    [
      { keyId: key.id, upstream: 'one' },
      { keyId: other.id, upstream: 'two', model: 'gpt-4o', endpoint: '/v1/responses' },
      { ...failed, upstream: 'one', createdAt: NOW + MINUTE },
      { keyId: key.id, upstream: 'one', outcome: 'client_left', status: 499 },
      { type: 'top_up', model: null, endpoint: null, outcome: null },
    ],
    [
      { keyId: key.id, createdAt: NOW },
      { keyId: other.id, createdAt: NOW + MINUTE, times: 40 },
      { keyId: key.id, createdAt: NOW + MINUTE, code: 'model_not_found', model: null },
    ],
  );
  const { inBuckets, buckets, ...summary } = await book.summarizeCalls(
    { accountId: account.id, from: NOW, to: NOW + 2 * MINUTE - 1 },
    NOW,
  );
  t.same(buckets, { unit: 'minute', ms: MINUTE, start: NOW, count: 2 });
  t.same(inBuckets, [
    { ok: 2, refused: 1, failed: 1 },
    { ok: 0, refused: 41, failed: 1 },
  ]);
  t.same(summary, {
    results: { ok: 2, refused: 42, failed: 2 },
    codes: [
      { value: 'insufficient_credits', count: 41 },
      { value: 'model_not_found', count: 1 },
      { value: 'overloaded', count: 1 },
    ],
    models: [
      { value: 'gpt-4o-mini', count: 44 },
      { value: 'gpt-4o', count: 1 },
    ],
    endpoints: [
      { value: '/v1/chat/completions', count: 45 },
      { value: '/v1/responses', count: 1 },
    ],
    upstreams: [
      { value: 'one', count: 3 },
      { value: 'two', count: 1 },
    ],
    keys: [
      { value: other.id, name: 'other', count: 41 },
      { value: key.id, name: 'first', count: 5 },
    ],
    members: [],
    accounts: [{ value: account.id, count: 46 }],
    groups: [
      {
        code: 'insufficient_credits',
        endpoint: '/v1/chat/completions',
        model: 'gpt-4o-mini',
        count: 41,
        firstAt: NOW,
        lastAt: NOW + MINUTE,
        keys: 2,
      },
      {
        code: 'overloaded',
        endpoint: '/v1/chat/completions',
        model: 'gpt-4o-mini',
        count: 1,
        firstAt: NOW + MINUTE,
        lastAt: NOW + MINUTE,
        keys: 1,
      },
      {
        code: 'model_not_found',
        endpoint: '/v1/chat/completions',
        model: null,
        count: 1,
        firstAt: NOW + MINUTE,
        lastAt: NOW + MINUTE,
        keys: 1,
      },
    ].sort((a, b) => b.count - a.count),
    durationMs: { p50: null, p95: null },
    firstByteMs: { p50: null, p95: null },
  });
});

eachBook('a summary takes each filter of the list, and counts the same calls', async (t, book) => {
  const { account, key } = await stored(book);
  const { account: stranger, key: theirs } = await stored(book);
  const wanted = {
    role: 'member',
    email: null,
    name: null,
    canCreateKeys: true,
    spendingLimits: [],
    secretHash: 'secret',
  } as const;
  await book.createInvitation(account.id, wanted, { by: COMMAND_LINE, roles: new Set(ROLES) }, NOW);
  const newPerson = { email: 'ada@example.com', name: 'Ada', passwordHash: null, isOperator: false };
  const from = { ip: null, requestId: null };
  const { personId: person } = await book.acceptInvitation('secret', { newPerson }, from, NOW);
  const hers = await book.createKey(account.id, newKey({ name: 'hers', personId: person }), NOW);
  await record(
    book,
    account.id,
    [
      { keyId: key.id, upstream: 'one' },
      { keyId: hers.id, upstream: 'two', model: 'gpt-4o' },
      { keyId: hers.id, upstream: 'two', outcome: 'timeout', code: 'upstream_timeout', createdAt: NOW - 1 },
    ],
    [{ keyId: hers.id }, { keyId: key.id, code: 'model_not_found', endpoint: '/v1/responses' }],
  );
  await record(book, stranger.id, [{ keyId: theirs.id, upstream: 'one' }], [{ keyId: theirs.id }]);
  const accountId = account.id;
  for (const filter of [
    {},
    { accountId },
    { accountId, keyId: hers.id },
    { keyId: hers.id },
    { accountId, personId: person },
    { personId: person },
    { personId: 0 },
    { accountId, model: 'gpt-4o' },
    { accountId, endpoint: '/v1/responses' },
    { accountId, code: 'model_not_found' },
    { upstream: 'one' },
    { accountId, result: 'ok' },
    { accountId, result: 'refused' },
    { accountId, result: 'failed' },
    { accountId, outcome: 'timeout' },
    { accountId, outcome: 'complete' },
    { accountId, outcome: 'refused' },
    { accountId, from: NOW },
    { accountId, to: NOW - 1 },
  ] as const) {
    const listed = await book.calls({ ...filter, limit: 100 });
    const { results, inBuckets } = await book.summarizeCalls(filter, NOW);
    const resultOf = (call: (typeof listed)[number]) =>
      call.refused ? 'refused' : call.entry.outcome === 'complete' ? 'ok' : 'failed';
    for (const result of ['ok', 'refused', 'failed'] as const) {
      const count = listed.filter((call) => resultOf(call) === result).length;
      t.equal(results[result], count, `${JSON.stringify(filter)} ${result}`);
      const sum = inBuckets.reduce((total, bucket) => total + bucket[result], 0);
      t.equal(sum, count, `the buckets of ${JSON.stringify(filter)}`);
    }
  }
  const { members } = await book.summarizeCalls({ accountId }, NOW);
  t.same(members, [{ value: person, name: 'Ada', count: 3 }]);
});

eachBook('buckets cover the range without gaps, its first and last millisecond too', async (t, book) => {
  const { account, key } = await stored(book);
  const accountId = account.id;
  const times = [NOW - 1, NOW, NOW + HOUR - 1, NOW + HOUR];
  await record(
    book,
    accountId,
    times.map((createdAt) => ({ keyId: key.id, createdAt })),
  );
  const { buckets, inBuckets } = await book.summarizeCalls(
    { accountId, from: NOW, to: NOW + HOUR - 1 },
    NOW + DAY,
  );
  t.same(buckets, { unit: 'minute', ms: MINUTE, start: NOW, count: 60 });
  t.equal(inBuckets.length, 60);
  t.same(
    inBuckets.map(({ ok }) => ok),
    [1, ...Array(58).fill(0), 1],
  );
  const whole = await book.summarizeCalls({ accountId }, NOW + 10 * DAY);
  t.match(whole.buckets, { unit: 'day', start: NOW - DAY / 2, count: 11 }, 'from the oldest call until now');
  t.equal(whole.inBuckets[0]?.ok, 4);
  const empty = await book.summarizeCalls({ accountId: accountId + 1 }, NOW);
  t.match(empty, { buckets: { unit: 'minute', count: 1 }, inBuckets: [{ ok: 0, refused: 0, failed: 0 }] });
});

eachBook('percentiles are of calls that reached a provider', async (t, book) => {
  const { account, key } = await stored(book);
  const charged = Array.from({ length: 100 }, (_, at) => ({
    keyId: key.id,
    upstream: 'one',
    durationMs: 1234 + at * 10,
    firstByteMs: at + 1,
  }));
  await record(
    book,
    account.id,
    [...charged, { keyId: key.id, type: 'expired_hold', outcome: null, status: null }],
    [{ keyId: key.id, times: 500, durationMs: 1 }],
  );
  const { durationMs, firstByteMs, results } = await book.summarizeCalls({ accountId: account.id }, NOW);
  t.same(results, { ok: 100, refused: 500, failed: 1 });
  t.same(durationMs, { p50: 1720, p95: 2170 });
  t.same(firstByteMs, { p50: 50, p95: 95 });
});

eachBook('a summary reads any number of calls, some thousand at a time', async (t, book) => {
  const { account, key } = await stored(book);
  const charged = Array.from({ length: 12_000 }, (_, at) => ({
    keyId: key.id,
    upstream: 'one',
    createdAt: NOW + Math.floor(at / 7),
    durationMs: 0,
  }));
  await record(book, account.id, charged);
  const { results, durationMs } = await book.summarizeCalls({ accountId: account.id, to: NOW + DAY }, NOW);
  t.equal(results.ok, 12_000);
  t.same(durationMs, { p50: 0, p95: 0 });
});

eachBook(
  'records of earlier versions, which lack fields, are counted and listed',
  async (t, book, { run }) => {
    const { account, key } = await stored(book);
    await record(book, account.id, [{ keyId: key.id, upstream: 'one', durationMs: 7 }], [{ keyId: key.id }]);
    await run(`update refusals set told = '{}', model = null, category = null, streamed = null`);
    await run('update ledger set call = null, upstream = null, code = null');
    const summary = await book.summarizeCalls({ accountId: account.id }, NOW);
    t.match(summary, { results: { ok: 1, refused: 1 }, durationMs: { p50: null } });
    t.equal((await book.calls({ accountId: account.id, limit: 10 })).length, 2);
  },
);
